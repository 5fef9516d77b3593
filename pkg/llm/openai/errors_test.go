package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

const secret = "sk-proj-abcdefghijklmnop"

// TestRefusals has the errors of real endpoints: status, body, meaning.
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
		"OpenAI, model":       {404, "{\"error\":{\"message\":\"The model `gpt-9` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", llm.ClassUnknownModel, "model_not_found", "(model m-1, 404) does not know the model; podctl models default lists"},
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
		"OpenAI, context":     {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ClassContext, "context_length_exceeded", `set models."m-1".window`},
		"llama.cpp, context":  {400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, llm.ClassContext, "400", "9000"},
		"vLLM, context":       {400, `{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","param":null,"code":400}`, llm.ClassContext, "400", ""},
		"Gemini, context":     {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, llm.ClassContext, "400", "1048576"},
		"Anthropic, context":  {400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}","provider_name":"Anthropic"}}}`, llm.ClassContext, "400", "210000"},
		"xAI, context":        {400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, llm.ClassContext, "Client specified an invalid argument", "131072"},
		"a proxy's limit":     {413, "<html>413 Request Entity Too Large</html>", llm.ClassContext, "", ""},
		"OpenAI, image":       {400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error","param":"messages.[1].content.[1].type","code":null}}`, llm.ClassNoImages, "", `(model m-1, 400) takes no images; set models."m-1".images = false, or use a model that sees images; it says "Invalid content type. image_url is only supported by certain models."`},
		"OpenRouter, image":   {404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, llm.ClassNoImages, "404", `set models."m-1".images = false`},
		"llama.cpp, image":    {500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, llm.ClassNoImages, "500", `set models."m-1".images = false`},
		"Ollama, image":       {400, `{"error":{"message":"this model does not support image input (ref: b8bd630e)","type":"invalid_request_error","param":null,"code":null}}`, llm.ClassNoImages, "", `set models."m-1".images = false`},
		"vLLM, image":         {400, `{"object":"error","message":"m-1 is not a multimodal model","type":"BadRequestError","param":null,"code":400}`, llm.ClassNoImages, "400", `set models."m-1".images = false`},
		"DeepSeek, image":     {400, `{"error":{"message":"Failed to deserialize the JSON body into the target type: messages[1]: unknown variant ` + "`image_url`, expected `text`" + ` at line 1 column 900","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, llm.ClassNoImages, "invalid_request_error", `set models."m-1".images = false`},
		"Z.ai, image":         {400, `{"error":{"code":"1210","message":"messages.content.type is invalid, allowed values: ['text']"}}`, llm.ClassNoImages, "1210", `set models."m-1".images = false`},
		"OpenAI, bad image":   {400, `{"error":{"message":"You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].","type":"invalid_request_error","param":null,"code":"image_parse_error"}}`, llm.ClassInvalid, "image_parse_error", `refused the request; it says "You uploaded`},
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

// The message about a refused call quotes what the model wrote.
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

// An endpoint may say itself whether a retry helps.
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
