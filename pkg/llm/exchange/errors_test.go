package exchange_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"podd/pkg/llm"
	"podd/pkg/llm/exchange"
)

// failures are errors as endpoints send them; some have a status and text that contradict
// each other.
var failures = map[string]struct {
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
	"llama.cpp, image in a stream":      {0, `{"error":{"code":500,"message":"image input is not supported by this server","type":"server_error"}}`, llm.ClassNoImages},
	"Gemini, image":                     {400, `[{"error":{"code":400,"message":"Image input modality is not enabled for models/gemma-3-1b-it","status":"INVALID_ARGUMENT"}}]`, llm.ClassNoImages},
	"Mistral, image":                    {400, `{"object":"error","message":"Image input is not enabled for this model","type":"invalid_request_invalid_args","code":"3051"}`, llm.ClassNoImages},
	"LM Studio, image":                  {400, `{"error":"Model does not support images. Please use a model that does."}`, llm.ClassNoImages},
	"a rate of images":                  {429, `{"error":{"message":"Image inputs are not supported above 10 requests per minute"}}`, llm.ClassRateLimit},
	"OpenRouter, no endpoints":          {404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, llm.ClassUnknownModel},
	"Groq, call":                        {400, `{"error":{"message":"Tool call validation failed","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"{}"}}`, llm.ClassMalformedCall},
	"Groq, call in a stream":            {0, `{"error":{"message":"Failed to parse tool call arguments as JSON","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`, llm.ClassMalformedCall},
	"Z.ai, a number that is no status":  {0, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, llm.ClassContext},
	"Z.ai, overloaded":                  {0, `{"error":{"code":"1305","message":"try later"}}`, llm.ClassOverloaded},
	"a code that is a status":           {0, `{"error":{"code":401,"message":"no"}}`, llm.ClassAuth},
	"an upstream's failure":             {0, `{"error":{"code":502,"message":"Provider returned error"}}`, llm.ClassOverloaded},
	"Anthropic, account":                {0, `{"type":"error","error":{"type":"billing_error","message":"Your credit is used up."}}`, llm.ClassQuota},
	"Anthropic, key in a stream":        {0, `{"type":"error","error":{"type":"permission_error","message":"Your key cannot use this."}}`, llm.ClassAuth},
	"Anthropic, model":                  {404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`, llm.ClassUnknownModel},
	"Anthropic, path":                   {404, `{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}`, llm.ClassProtocol},
	"Anthropic, filter":                 {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, llm.ClassContentFilter},
	"Anthropic, window":                 {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.ClassContext},
	"Anthropic, window and output":      {400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 32000 > 200000"}}`, llm.ClassContext},
	"Anthropic, size":                   {413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, llm.ClassContext},
	"Anthropic, rate":                   {429, `{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}`, llm.ClassRateLimit},
	"Anthropic, rate in a stream":       {0, `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}`, llm.ClassRateLimit},
	"Anthropic, overloaded":             {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ClassOverloaded},
	"Anthropic, overloaded in a stream": {0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ClassOverloaded},
	"Anthropic, request in a stream":    {0, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: wrong"}}`, llm.ClassInvalid},
	"Anthropic, request":                {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: wrong"}}`, llm.ClassInvalid},
	"OpenAI, too large, no numbers":     {429, `{"error":{"message":"Request too large for gpt-9 on tokens per min","code":"rate_limit_exceeded"}}`, llm.ClassContext},
	"OpenRouter, payment":               {402, `{"error":{"message":"This request requires more credits","code":402}}`, llm.ClassQuota},
	"OpenAI, quota":                     {400, `{"error":{"message":"You exceeded your current quota, please check your plan."}}`, llm.ClassQuota},
	"a proxy's limit":                   {413, `<html>413 Request Entity Too Large</html>`, llm.ClassContext},
	"OpenAI, images":                    {400, `{"error":{"message":"image_url is only supported by certain models."}}`, llm.ClassNoImages},
	"no path":                           {404, `404 page not found`, llm.ClassProtocol},
	"Ollama, model":                     {404, `{"error":{"message":"model \"x\" not found, try pulling it first"}}`, llm.ClassUnknownModel},
	"a gateway's timeout":               {504, ``, llm.ClassOverloaded},
	"a rate in a stream":                {0, `{"error":{"message":"Too many requests"}}`, llm.ClassRateLimit},
	"a size beside a request rate":      {400, `{"error":{"message":"tokens exceed the maximum"}}`, llm.ClassContext},
}

func TestErrorClasses(t *testing.T) {
	for name, tc := range failures {
		if got := exchange.ClassOfError(tc.status, tc.body, -1); got != tc.class {
			t.Errorf("%s: %s, want %s", name, got, tc.class)
		}
	}
}

// Each rule of the table decides on an error: without it some error gets another class.
func TestEachErrorRuleCounts(t *testing.T) {
	for i, rule := range exchange.ErrorRules() {
		counts := false
		for _, tc := range failures {
			counts = counts || exchange.ClassOfError(tc.status, tc.body, i) != tc.class
		}
		if !counts {
			t.Errorf("rule %d, %s, decides on nothing", i, rule)
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
		"the draft of the IETF":         {headers: headers{"RateLimit-Reset": "30"}, want: 30 * time.Second},
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
		if got := exchange.Wait(h, tc.body, now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
