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
	"Moonshot, window":                  {400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 262219)","type":"invalid_request_error"}}`, llm.ClassContext},
	"Moonshot, size":                    {400, `{"error":{"message":"total message size 4711 exceeds limit 4000","type":"invalid_request_error"}}`, llm.ClassContext},
	"Moonshot, overloaded":              {429, `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`, llm.ClassRateLimit},
	"Moonshot, account":                 {429, `{"error":{"message":"Your account is suspended, please check your plan","type":"exceeded_current_quota_error"}}`, llm.ClassQuota},
	"DashScope, window":                 {400, `{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]","type":"invalid_request_error"}}`, llm.ClassContext},
	"DashScope, own shape":              {400, `{"code":"InvalidParameter","message":"Total message token length exceed model limit (10240 tokens).","request_id":"r"}`, llm.ClassContext},
	"DashScope, output":                 {400, `{"error":{"code":"invalid_parameter_error","message":"Range of max_tokens should be [1, 8192]"}}`, llm.ClassInvalid},
	"DashScope, rate":                   {400, `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit.","request_id":"r"}`, llm.ClassRateLimit},
	"Volcengine, window":                {400, `{"error":{"code":"InvalidParameter","message":"Input length 140990 exceeds the maximum length 98304. Request id: 0","param":"","type":"BadRequest"}}`, llm.ClassContext},
	"Volcengine, total":                 {400, `{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens","type":"BadRequest"}}`, llm.ClassContext},
	"Mistral, window":                   {400, `{"object":"error","message":"Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length","type":"invalid_request_prompt","code":"3051"}`, llm.ClassContext},
	"Cohere, window":                    {400, `{"message":"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs"}`, llm.ClassContext},
	"Together, window":                  {400, `{"error":{"message":"The input (516368 tokens) is longer than the model's context length (262144 tokens).","type":"invalid_request_error"}}`, llm.ClassContext},
	"Fireworks, window":                 {400, `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 140000, model maximum context length: 131071"}}`, llm.ClassContext},
	"TGI, input":                        {422, `{"error":"Input validation error: ` + "`inputs` must have less than 1024 tokens. Given: 1500" + `","error_type":"validation"}`, llm.ClassContext},
	"TGI, sum":                          {422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8000 `inputs` tokens" + `","error_type":"validation"}`, llm.ClassContext},
	"Bedrock, window":                   {400, `{"message":"Input is too long for requested model."}`, llm.ClassContext},
	"Bedrock, Nova":                     {400, `{"__type":"ValidationException","message":"Input Tokens Exceeded: Number of input tokens exceeds maximum length."}`, llm.ClassContext},
	"Bedrock, Titan":                    {400, `{"message":"Too many input tokens. Max input tokens: 8192, request input token count: 9000"}`, llm.ClassContext},
	"Bedrock, rate":                     {400, `{"__type":"ThrottlingException","message":"Rate exceeded"}`, llm.ClassRateLimit},
	"Vertex, window":                    {400, `{"error":{"code":400,"message":"Unable to submit request because the input token count is 33000 but model only supports up to 32768.","status":"INVALID_ARGUMENT"}}`, llm.ClassContext},
	"MiniMax, window":                   {200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`, llm.ClassContext},
	"MiniMax, rate":                     {0, `{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}`, llm.ClassRateLimit},
	"MiniMax, account":                  {0, `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, llm.ClassQuota},
	"MiniMax, key":                      {0, `{"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key in the 'Authorization' field"}}`, llm.ClassAuth},
	"Z.ai, window in Chinese":           {400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, llm.ClassContext},
	"Baidu, window":                     {400, `{"error":{"code":"tokens_too_long","message":"Prompt tokens too long","type":"invalid_request_error"},"id":"as-1"}`, llm.ClassContext},
	"Baidu, characters":                 {0, `{"error_code":336007,"error_msg":"the max input characters is 11200"}`, llm.ClassContext},
	"SiliconFlow, window":               {400, `{"code":20015,"message":"length of prompt_tokens (33014) must be less than max_seq_len (32768).","data":null}`, llm.ClassContext},
	"LM Studio, window":                 {400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`, llm.ClassContext},
	"Ollama, window":                    {400, `{"error":{"message":"prompt too long; exceeded max context length by 10000 tokens","type":"invalid_request_error"}}`, llm.ClassContext},
	"TensorRT-LLM, window":              {500, `{"object":"error","message":"Prompt length (5000) exceeds maximum input length (4096)","type":"InternalServerError","code":500}`, llm.ClassContext},
	"TensorRT-LLM, sum":                 {400, `{"message":"The sum of prompt length (8000), query length (0) should not exceed max_num_tokens (8192)","code":400}`, llm.ClassContext},
	"SGLang, window":                    {400, `{"object":"error","message":"Input length (265330 tokens) exceeds the maximum allowed length (262138 tokens).","type":"BadRequestError","code":400}`, llm.ClassContext},
	"vLLM, no room":                     {400, `{"object":"error","message":"max_tokens must be at least 1, got -235.","type":"BadRequestError","code":400}`, llm.ClassContext},
	"OpenVINO, window":                  {400, `{"error":"Number of prompt tokens: 5000 exceeds model max length: 4096"}`, llm.ClassContext},
	"Cerebras, window":                  {400, `{"message":"Please reduce the length of the messages or completion. Current length is 8238 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`, llm.ClassContext},
	"SambaNova, window":                 {400, `{"error":{"message":"The maximum context length of Meta-Llama is 8192. However, answering your request will take 9000 tokens.","type":"invalid_request_error"}}`, llm.ClassContext},
	"Databricks, window":                {400, `{"error_code":"BAD_REQUEST","message":"Bad request: prompt token count (5000) cannot exceed 4096."}`, llm.ClassContext},
	"Poolside, window":                  {400, `{"error":{"message":"Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}`, llm.ClassContext},
	"Copilot, window":                   {400, `{"error":{"message":"prompt token count of 74490 exceeds the limit of 72000","code":"model_max_prompt_tokens_exceeded"}}`, llm.ClassContext},
	"OpenAI, configured limit":          {400, `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens."}}`, llm.ClassContext},
	"watsonx, window":                   {400, `{"errors":[{"code":"invalid_input_argument","message":"the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model"}]}`, llm.ClassContext},
	"MLC, window":                       {400, `{"object":"error","message":"Request prompt has 5000 tokens in total, larger than the model input length limit 4096.","code":400}`, llm.ClassContext},
	"LiteLLM, window":                   {400, `{"error":{"message":"litellm.ContextWindowExceededError: too much","code":"400"}}`, llm.ClassContext},
	"a gateway's own words, window":     {400, `{"error":{"message":"Your prompt has 9000 tokens, more than 8000"}}`, llm.ClassContext},
	"an answer that may not be so long": {400, `{"error":{"message":"max_tokens exceeds the limit of 8192 output tokens"}}`, llm.ClassInvalid},
	"Anthropic, output":                 {400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m"}}`, llm.ClassInvalid},
	"Anthropic, image":                  {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0.image.source.base64: image exceeds 5 MB maximum: 6 > 5"}}`, llm.ClassInvalid},
	"OpenAI, tools":                     {400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 133 instead.","code":"array_above_max_length"}}`, llm.ClassInvalid},
	"GitHub, rate":                      {403, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, llm.ClassRateLimit},
	"a gateway's 400 of an overload":    {400, `{"error":{"type":"invalid_request_error","message":"Overloaded"}}`, llm.ClassOverloaded},
	"a size beside a request rate":      {400, `{"error":{"message":"tokens exceed the maximum"}}`, llm.ClassContext},
}

func TestErrorClasses(t *testing.T) {
	for name, tc := range failures {
		if got := exchange.ClassOfError(tc.status, tc.body, -1); got != tc.class {
			t.Errorf("%s: %s, want %s", name, got, tc.class)
		}
	}
}

// An error that has any shape keeps its words, its class and its wait. Each of them has words of
// its own.
var shapes = map[string]struct {
	body  string
	class llm.Class
	says  string
}{
	"error, object":            {`{"error":{"message":"Slow down","type":"rate_limit_error","code":null}}`, llm.ClassRateLimit, "Slow down"},
	"error, string":            {`{"error":"rate limit exceeded"}`, llm.ClassRateLimit, "rate limit exceeded"},
	"error, list":              {`{"error":[{"message":"Too many requests"}]}`, llm.ClassRateLimit, "Too many requests"},
	"errors":                   {`{"errors":[{"message":"Too many requests","code":"x"},{"message":"wait"}]}`, llm.ClassRateLimit, "Too many requests: wait"},
	"errors, texts":            {`{"errors":["Too many requests"]}`, llm.ClassRateLimit, "Too many requests"},
	"error in an error":        {`{"error":{"message":"upstream said no","error":{"message":"Overloaded","type":"overloaded_error"}}}`, llm.ClassOverloaded, "upstream said no: Overloaded"},
	"error in detail":          {`{"detail":{"error":{"message":"Too many requests"}}}`, llm.ClassRateLimit, "Too many requests"},
	"JSON in a message":        {`{"error":{"message":"{\"error\":{\"message\":\"Too many requests\"}}"}}`, llm.ClassRateLimit, "Too many requests"},
	"a list of errors":         {`[{"error":{"code":429,"message":"slow"}}]`, llm.ClassRateLimit, "slow"},
	"object error":             {`{"object":"error","message":"too many requests","type":"x","code":400}`, llm.ClassRateLimit, "too many requests"},
	"type and message":         {`{"type":"overloaded_error","message":"Overloaded"}`, llm.ClassOverloaded, "Overloaded"},
	"type error without error": {`{"type":"error","message":"Rate limit reached","code":"x"}`, llm.ClassRateLimit, "Rate limit reached"},
	"code and msg":             {`{"code":429,"msg":"busy","data":null}`, llm.ClassRateLimit, "busy"},
	"code and message":         {`{"code":"Throttling","message":"Requests throttled","request_id":"r"}`, llm.ClassRateLimit, "Requests throttled"},
	"success false":            {`{"success":false,"message":"rate limit"}`, llm.ClassRateLimit, "rate limit"},
	"status error":             {`{"status":"error","message":"rate limit"}`, llm.ClassRateLimit, "rate limit"},
	"base_resp":                {`{"id":"i","choices":null,"created":1,"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded"}}`, llm.ClassRateLimit, "rate limit exceeded"},
	"detail":                   {`{"detail":"Rate limit exceeded"}`, llm.ClassRateLimit, "Rate limit exceeded"},
	"detail, list":             {`{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required, bad request"}]}`, llm.ClassInvalid, "messages"},
	"problem":                  {`{"type":"about:blank","title":"Too Many Requests","status":429}`, llm.ClassRateLimit, "Too Many Requests"},
	"error_code and error_msg": {`{"error_code":336501,"error_msg":"Open api rate limit reached"}`, llm.ClassRateLimit, "Open api rate limit reached"},
	"AWS":                      {`{"__type":"ThrottlingException","Message":"Rate exceeded"}`, llm.ClassRateLimit, "Rate exceeded"},
	"Tencent":                  {`{"Response":{"Error":{"Code":"RequestLimitExceeded","Message":"too many requests"},"RequestId":"r"}}`, llm.ClassRateLimit, "too many requests"},
	"iFlytek":                  {`{"header":{"code":11202,"message":"rate limit of a second","sid":"s"}}`, llm.ClassRateLimit, "rate limit of a second"},
	"Apigee":                   {`{"fault":{"faultstring":"Rate limit quota violation","detail":{"errorcode":"policies.ratelimit.QuotaViolation"}}}`, llm.ClassRateLimit, "Rate limit quota violation"},
	"a message alone":          {`{"message":"API rate limit exceeded"}`, llm.ClassRateLimit, "API rate limit exceeded"},
}

// An error of any shape has its class and its words, within a stream and as the body of a refusal.
func TestErrorShapes(t *testing.T) {
	for name, tc := range shapes {
		for how, body := range map[string]string{
			"JSON": tc.body, "an event": "event: error\ndata: " + tc.body + "\n\n", "a message": ": wait\n\ndata: " + tc.body + "\n\ndata: [DONE]\n\n",
			"a field": "error: " + tc.body, "more behind": tc.body + "\n\ndata: [DONE]\n\n", "a mark": "\xef\xbb\xbf" + tc.body,
		} {
			if class, says := exchange.ClassOfError(0, body, -1), exchange.WordsOf(body); class != tc.class || !strings.Contains(says, tc.says) {
				t.Errorf("%s as %s: %s, %q", name, how, class, says)
			}
		}
	}
	for page, want := range map[string]string{
		"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title><style>p{}</style><script>x()</script></head><body><h1>Bad  gateway</h1></body></html>": "502 Bad Gateway Bad gateway",
		"upstream connect error": "upstream connect error", "<a": "<a", "": "", "{}": "", `{"a":1}`: `{"a":1}`, `{"a":`: `{"a":`, `"slow down"`: "slow down",
	} {
		if says := exchange.WordsOf(page); says != want {
			t.Errorf("%s: %q", page, says)
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
		"the longest wait":              {headers: headers{"Retry-After": "21600"}, want: 6 * time.Hour},
		"more than that":                {headers: headers{"Retry-After": "21601"}},
		"a day, in words":               {body: `{"error":{"message":"Requests have exceeded the rate limit. Please retry after 86400 seconds."}}`},
		"a member":                      {body: `{"error":{"message":"slow down","retry_after":3}}`, want: 3 * time.Second},
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
