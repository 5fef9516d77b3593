package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

const secret = "sk-proj-abcdefghijklmnop"

// TestRefusals has the errors of real endpoints: status, body, what it means.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		class  llm.Class
		code   string
		says   string
	}{
		"OpenAI, key":         {401, `{"error":{"message":"Incorrect API key provided: ` + secret + `. You can find your API key at https://platform.openai.com.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.ClassAuth, "invalid_api_key", "OPENAI_API_KEY"},
		"a gateway":           {403, `<html><body>Forbidden</body></html>`, llm.ClassAuth, "", "Forbidden"},
		"OpenAI, model":       {404, "{\"error\":{\"message\":\"The model `gpt-9` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", llm.ClassUnknownModel, "model_not_found", `the model "m-1"`},
		"Ollama, model":       {404, `{"error":{"message":"model \"m-1\" not found, try pulling it first","type":"not_found_error","param":null,"code":null}}`, llm.ClassUnknownModel, "", "try pulling it first"},
		"Ollama, native":      {404, `{"error":"model 'm-1' not found"}`, llm.ClassUnknownModel, "", "m-1"},
		"vLLM, model":         {404, "{\"object\":\"error\",\"message\":\"The model `m-1` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}", llm.ClassUnknownModel, "404", "does not exist"},
		"OpenRouter, model":   {400, `{"error":{"message":"m-1 is not a valid model ID","code":400},"user_id":"u"}`, llm.ClassUnknownModel, "400", "not a valid model"},
		"Ollama, path":        {404, "404 page not found", llm.ClassProtocol, "", "/v1"},
		"FastAPI, path":       {404, `{"detail":"Not Found"}`, llm.ClassProtocol, "", "/v1"},
		"nginx, method":       {405, "<html><title>405 Not Allowed</title></html>", llm.ClassProtocol, "", "/v1"},
		"OpenAI, quota":       {429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.ClassQuota, "insufficient_quota", "add credit"},
		"OpenRouter, credit":  {402, `{"error":{"code":402,"message":"Insufficient credits"}}`, llm.ClassQuota, "402", "add credit"},
		"DeepSeek, balance":   {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, llm.ClassQuota, "invalid_request_error", "add credit"},
		"OpenAI, rate":        {429, `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, llm.ClassRateLimit, "rate_limit_exceeded", "limits the rate"},
		"plain rate":          {429, "slow down\x1b[2J\nplease", llm.ClassRateLimit, "", `"slow down [2J please"`},
		"OpenAI, context":     {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ClassContext, "context_length_exceeded", "larger window"},
		"llama.cpp, context":  {400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, llm.ClassContext, "400", "9000"},
		"vLLM, context":       {400, `{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","param":null,"code":400}`, llm.ClassContext, "400", ""},
		"Gemini, context":     {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, llm.ClassContext, "400", "1048576"},
		"Anthropic, context":  {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}","provider_name":"Anthropic"}}}`, llm.ClassContext, "400", "210000"},
		"xAI, context":        {400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, llm.ClassContext, "Client specified an invalid argument", "131072"},
		"a proxy's limit":     {413, "<html>413 Request Entity Too Large</html>", llm.ClassContext, "", ""},
		"OpenAI, parameter":   {400, `{"error":{"message":"Unknown parameter: 'input[1].status'.","type":"invalid_request_error","param":"input[1].status","code":"unknown_parameter"}}`, llm.ClassInvalid, "unknown_parameter", "input[1].status"},
		"Mistral, validation": {422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","x"]}]},"type":"invalid_request_error"}`, llm.ClassInvalid, "", "extra_forbidden"},
		"OpenAI, overloaded":  {503, `{"error":{"message":"That model is currently overloaded","type":"server_error","param":null,"code":null}}`, llm.ClassOverloaded, "", "try again"},
		"Anthropic":           {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ClassOverloaded, "", "Overloaded"},
		"Cloudflare":          {524, "error code: 524", llm.ClassOverloaded, "", "524"},
		"nothing said":        {500, "", llm.ClassOverloaded, "", "failed on its side"},
		"a timeout":           {408, "{}", llm.ClassOverloaded, "", ""},
		"a redirect":          {302, "", llm.ClassProtocol, "", "redirects"},
		"much said":           {400, strings.Repeat("long ", 1000), llm.ClassInvalid, "", "…"},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, openai.Config{APIKey: secret}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example/v1/")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			_, err := collect(t, c, `{"model":"m-1"}`)
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if e.Class != tc.class || e.Code != tc.code || e.Status != tc.status {
				t.Errorf("class %q, code %q, status %d: %s", e.Class, e.Code, e.Status, e.Message)
			}
			if !strings.Contains(e.Message, tc.says) || len(e.Message) > 400 || strings.ContainsAny(e.Message, "\n\x1b") {
				t.Errorf("message: %q", e.Message)
			}
			if strings.Contains(e.Message, secret) {
				t.Errorf("the key is in the message: %s", e.Message)
			}
		})
	}
}

func TestNoKeyIsSet(t *testing.T) {
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	_, err := collect(t, c, `{}`)
	if llm.ClassOf(err) != llm.ClassAuth || !strings.Contains(err.Error(), "wants a key and none is set") {
		t.Error(err)
	}
}

func TestSecretHeadersStayOut(t *testing.T) {
	c := serve(t, openai.Config{Headers: map[string]string{"X-Gateway": "hunter2hunter2"}}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "bad header "+r.Header.Get("X-Gateway"))
	})
	_, err := collect(t, c, `{}`)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "[header]") {
		t.Error(err)
	}
}

// TestErrorClasses has errors whose status and words say different things.
func TestErrorClasses(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		class  llm.Class
	}{
		"a rate that exceeds a limit":       {429, `{"error":{"message":"request rate exceeds the limit of 60 requests per minute"}}`, llm.ClassRateLimit},
		"the same in a stream":              {0, `{"error":{"message":"request rate exceeds the limit of 60 requests per minute"}}`, llm.ClassRateLimit},
		"tokens that exceed a quota":        {429, `{"error":{"message":"input tokens exceed the quota"}}`, llm.ClassRateLimit},
		"the same with 400":                 {400, `{"error":{"message":"input tokens exceed the quota"}}`, llm.ClassRateLimit},
		"a prompt over a limit":             {400, `{"error":{"message":"the prompt exceeds the limit of 8192"}}`, llm.ClassContext},
		"a key and a context":               {401, `{"error":{"message":"no key for models with a context window of 1M"}}`, llm.ClassAuth},
		"OpenAI, too large for a minute":    {429, `{"error":{"message":"Request too large for gpt-9 in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.","type":"tokens","code":"rate_limit_exceeded"}}`, llm.ClassContext},
		"Groq, too large for a minute":      {413, `{"error":{"message":"Request too large for model m on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}`, llm.ClassContext},
		"more than the limit, said plainly": {429, `{"error":{"message":"Rate limit reached on tokens per minute: Limit 6000, Used 0, Requested 9000","code":"rate_limit_exceeded"}}`, llm.ClassContext},
		"tokens per minute used up":         {429, `{"error":{"message":"Rate limit reached on tokens per minute: Limit 6000, Used 5000, Requested 2000","code":"rate_limit_exceeded"}}`, llm.ClassRateLimit},
		"Gemini, quota of a minute":         {429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateContentInputTokensPerModelPerMinute"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, llm.ClassRateLimit},
		"Gemini, quota of a day":            {429, `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, llm.ClassQuota},
		"xAI, key":                          {400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. Get one at console.x.ai."}`, llm.ClassAuth},
		"xAI, credit":                       {403, `{"code":"The caller does not have permission","error":"Your team has used all available credits."}`, llm.ClassQuota},
		"Gemini, key":                       {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.ClassAuth},
		"OpenAI, a project's models":        {403, `{"error":{"message":"Project p does not have access to model m","type":"invalid_request_error","code":"model_not_found"}}`, llm.ClassUnknownModel},
		"Perplexity, length":                {400, `{"error":{"message":"The total length of all messages is too long.","type":"too_many_prompt_tokens","code":400}}`, llm.ClassContext},
		"Azure, deployment":                 {404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, llm.ClassUnknownModel},
		"Azure, filter":                     {400, `{"error":{"message":"The response was filtered due to the prompt triggering the content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`, llm.ClassContentFilter},
		"OpenRouter, moderation":            {403, `{"error":{"message":"m requires moderation on x. Your input was flagged for y.","code":403}}`, llm.ClassContentFilter},
		"OpenRouter, no endpoints":          {404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.ClassUnknownModel},
		"Groq, call":                        {400, `{"error":{"message":"Tool call validation failed","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{}"}}`, llm.ClassMalformedCall},
		"Groq, call in a stream":            {0, `{"error":{"message":"Failed to parse tool call arguments as JSON","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`, llm.ClassMalformedCall},
		"Z.ai, a number that is no status":  {0, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, llm.ClassContext},
		"Z.ai, overloaded":                  {0, `{"error":{"code":"1305","message":"try later"}}`, llm.ClassOverloaded},
		"a code that is a status":           {0, `{"error":{"code":401,"message":"no"}}`, llm.ClassAuth},
		"an upstream's failure":             {0, `{"error":{"code":502,"message":"Provider returned error"}}`, llm.ClassOverloaded},
	} {
		if got := openai.ClassOfError(tc.status, tc.body); got != tc.class {
			t.Errorf("%s: %s, want %s", name, got, tc.class)
		}
	}
}

// What the model wrote is in the message of a call that was refused.
func TestMalformedCallSaysWhat(t *testing.T) {
	c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function=shell{ls}>"}}`)
	})
	_, err := collect(t, c, `{}`)
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != llm.ClassMalformedCall || !e.Retryable() || !strings.Contains(e.Message, "<function=shell{ls}>") {
		t.Error(err)
	}
}

// An endpoint may say itself whether trying again helps.
func TestShouldRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		status    int
		should    string
		class     llm.Class
		retryable bool
	}{
		"no word":     {503, "", llm.ClassOverloaded, true},
		"no":          {429, "false", llm.ClassRateLimit, false},
		"yes":         {400, "true", llm.ClassOverloaded, true},
		"not for all": {401, "true", llm.ClassAuth, false},
	} {
		c := serve(t, openai.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Should-Retry", tc.should)
			w.WriteHeader(tc.status)
		})
		_, err := collect(t, c, `{}`)
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != tc.class || e.Retryable() != tc.retryable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWait(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type headers map[string]string
	for name, tc := range map[string]struct {
		headers headers
		body    string
		want    time.Duration
	}{
		"nothing":                       {want: 0},
		"seconds":                       {headers: headers{"Retry-After": "3600"}, want: time.Hour},
		"half a second":                 {headers: headers{"Retry-After": "0.5"}, want: 500 * time.Millisecond},
		"less than none":                {headers: headers{"Retry-After": "-3"}},
		"words in a header":             {headers: headers{"Retry-After": "soon"}},
		"no number":                     {headers: headers{"Retry-After": "NaN"}},
		"no sense":                      {headers: headers{"Retry-After": "1e300"}},
		"more than a day":               {headers: headers{"Retry-After": "86401"}},
		"no sense beside sense":         {headers: headers{"Retry-After": "1e300", "Retry-After-Ms": "1500"}, want: 1500 * time.Millisecond},
		"a date":                        {headers: headers{"Retry-After": "Fri, 02 Jan 2026 03:05:05 GMT"}, want: time.Minute},
		"a date gone by":                {headers: headers{"Retry-After": "Fri, 02 Jan 2026 03:00:00 GMT"}},
		"the longest":                   {headers: headers{"Retry-After": "9", "Retry-After-Ms": "1500"}, want: 9 * time.Second},
		"no milliseconds":               {headers: headers{"Retry-After": "1", "Retry-After-Ms": "0"}, want: time.Second},
		"Azure":                         {headers: headers{"X-Ms-Retry-After-Ms": "2500"}, want: 2500 * time.Millisecond},
		"a limit's seconds":             {headers: headers{"X-RateLimit-Reset": "30"}, want: 30 * time.Second},
		"a limit's Unix time":           {headers: headers{"X-RateLimit-Reset": "1767323105"}, want: time.Minute},
		"in milliseconds":               {headers: headers{"X-RateLimit-Reset": "1767323105000"}, want: time.Minute},
		"a limit's duration":            {headers: headers{"X-RateLimit-Reset-Tokens": "6m0s"}, want: 6 * time.Minute},
		"a limit's date":                {headers: headers{"Anthropic-RateLimit-Requests-Reset": "2026-01-02T03:05:05Z"}, want: time.Minute},
		"a limit used up":               {headers: headers{"X-RateLimit-Reset-Requests": "8.5s", "X-RateLimit-Remaining-Requests": "0"}, want: 8500 * time.Millisecond},
		"a limit that has something":    {headers: headers{"X-RateLimit-Reset-Requests": "8.5s", "X-RateLimit-Remaining-Requests": "7"}},
		"words":                         {body: `{"error":{"message":"Rate limit reached: Limit 6000, Used 5900. Please try again in 9.816s. Visit https://example.org"}}`, want: 9816 * time.Millisecond},
		"words, milliseconds":           {body: `{"error":{"message":"Please try again in 20ms."}}`, want: 20 * time.Millisecond},
		"words, several units":          {body: `{"error":{"message":"Please try again in 1m30.5s."}}`, want: 90500 * time.Millisecond},
		"words, spelled out":            {body: `{"error":{"message":"Please retry after 26 seconds."}}`, want: 26 * time.Second},
		"words, minutes":                {body: `slow down, try again in 5 Minutes`, want: 5 * time.Minute},
		"words, not of time":            {body: `{"error":{"message":"try again in 2 models"}}`},
		"words, without end":            {body: `{"error":{"message":"try again in ` + strings.Repeat("9999999999d ", 500) + `"}}`},
		"Google's retry info":           {body: `[{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, want: 34 * time.Second},
		"a provider's, through routers": {body: `{"error":{"code":429,"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1767323105000"}}}}`, want: time.Minute},
	} {
		h := http.Header{}
		for k, v := range tc.headers {
			h.Set(k, v)
		}
		if got := openai.Wait(h, tc.body, now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
