package scripted_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// say posts a body to the Messages API.
func say(t *testing.T, url, version, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	if version != "" {
		req.Header.Set("Anthropic-Version", version)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// The server refuses what the public description of the Messages API refuses.
func TestRefusedMessages(t *testing.T) {
	srv, _ := follow(t, "model scripted\non \"hi\"\nstep\nreasoning Hm.\ntext ok\notherwise\ntext ok\n", "chat")
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	answer := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"x","input":{}}` }
	result := func(id string) string { return `{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}` }
	_, first := say(t, srv.URL(), "2023-06-01", `{"model":"scripted","max_tokens":4096,"stream":true,"messages":[`+user(text("hi"))+`]}`)
	_, signature, _ := strings.Cut(first, `"signature":"`)
	_, signature, _ = strings.Cut(signature, `"signature":"`)
	signature, _, _ = strings.Cut(signature, `"`)
	thinking := func(s, signature string) string {
		return `{"type":"thinking","thinking":"` + s + `","signature":"` + signature + `"}`
	}
	const thinks = `"thinking":{"type":"enabled","budget_tokens":1024},`
	for name, tc := range map[string]struct{ head, messages, says string }{
		"well formed":                {"", user(text("a")) + "," + answer(text("b")+","+use("1")+","+use("2")) + "," + user(result("2")+","+result("1")+","+text("c")), ""},
		"signed thinking":            {"", user(text("a")) + "," + answer(thinking("Hm.", signature)+","+text("b")) + "," + user(text("c")), ""},
		"no messages":                {"", "", "at least one message"},
		"the assistant begins":       {"", answer(text("a")) + "," + user(text("b")), "roles must alternate"},
		"a role twice":               {"", user(text("a")) + "," + user(text("b")), "roles must alternate"},
		"a system message":           {"", `{"role":"system","content":[]}`, "role: Input should be"},
		"the assistant ends":         {"", user(text("a")) + "," + answer(text("b")), "must end with a user message"},
		"an empty message":           {"", user(""), "content must be non-empty"},
		"empty text":                 {"", user(text("")), "non-whitespace"},
		"blank text":                 {"", user(text(" \\n")), "non-whitespace"},
		"no result":                  {"", user(text("a")) + "," + answer(use("1")) + "," + user(text("b")), "without `tool_result`"},
		"one result of two":          {"", user(text("a")) + "," + answer(use("1")+","+use("2")) + "," + user(result("1")), "without `tool_result`"},
		"a result of nothing":        {"", user(result("1")), "unexpected tool_use_id"},
		"a result twice":             {"", user(text("a")) + "," + answer(use("1")) + "," + user(result("1")+","+result("1")), "unexpected tool_use_id"},
		"a result after text":        {"", user(text("a")) + "," + answer(use("1")) + "," + user(text("b")+","+result("1")), "unexpected tool_use_id"},
		"an id twice":                {"", user(text("a")) + "," + answer(use("1")+","+use("1")) + "," + user(result("1")), "used twice"},
		"an id of another API":       {"", user(text("a")) + "," + answer(use("functions.x:0")) + "," + user(result("functions.x:0")), "should match pattern"},
		"input that is no object":    {"", user(text("a")) + "," + answer(`{"type":"tool_use","id":"1","name":"x","input":"{}"}`) + "," + user(result("1")), "valid dictionary"},
		"another signature":          {"", user(text("a")) + "," + answer(thinking("Hm.", "x")+","+text("b")) + "," + user(text("c")), "Invalid `signature`"},
		"changed thinking":           {"", user(text("a")) + "," + answer(thinking("Hmm.", signature)+","+text("b")) + "," + user(text("c")), "Invalid `signature`"},
		"thinking at the end":        {"", user(text("a")) + "," + answer(text("b")+","+thinking("Hm.", signature)) + "," + user(text("c")), "final block"},
		"sealed by someone else":     {"", user(text("a")) + "," + answer(`{"type":"redacted_thinking","data":"x"},`+text("b")) + "," + user(text("c")), "Invalid `data`"},
		"calls without thinking":     {thinks, user(text("a")) + "," + answer(use("1")) + "," + user(result("1")), "Expected `thinking`"},
		"calls of an earlier turn":   {thinks, user(text("a")) + "," + answer(use("1")) + "," + user(result("1")) + "," + answer(text("b")) + "," + user(text("c")), ""},
		"a step without thinking":    {thinks, user(text("a")) + "," + answer(thinking("Hm.", signature)+","+use("1")) + "," + user(result("1")) + "," + answer(use("2")) + "," + user(result("2")), ""},
		"a small budget":             {`"thinking":{"type":"enabled","budget_tokens":1000},`, user(text("a")), "greater than or equal to 1024"},
		"a budget of all":            {`"thinking":{"type":"enabled","budget_tokens":4096},`, user(text("a")), "`max_tokens` must be greater"},
		"warm thinking":              {thinks + `"temperature":0.5,`, user(text("a")), "may only be set to 1"},
		"another way to think":       {`"thinking":{"type":"deep"},`, user(text("a")), "expected tags"},
		"another effort":             {`"output_config":{"effort":"minimal"},`, user(text("a")), "output_config.effort"},
		"an hour":                    {`"cache_control":{"type":"ephemeral","ttl":"1h"},`, user(text("a")), ""},
		"a day":                      {`"cache_control":{"type":"ephemeral","ttl":"24h"},`, user(text("a")), "'5m' or '1h'"},
		"half a surrogate pair":      {"", user(text(`\ud83d`)), "no low surrogate"},
		"a whole one":                {"", user(text(`\ud83d\ude00`)), ""},
		"a URL of an image":          {"", user(`{"type":"image","source":{"type":"url","url":"http://x"}}`), "not an image in base64"},
		"five marks":                 {`"cache_control":{"type":"ephemeral"},`, user(strings.Repeat(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`, 4) + text("b")), "maximum of 4"},
		"a member of another API":    {`"stream_options":{},`, user(text("a")), "stream_options: Extra inputs"},
		"a tool without its schema":  {`"tools":[{"name":"x"}],`, user(text("a")), "tools.0"},
		"a system block of nothing":  {`"system":[{"type":"text","text":""}],`, user(text("a")), "system.0"},
		"a mark that does not exist": {`"cache_control":{"type":"forever"},`, user(text("a")), "Input should be 'ephemeral'"},
	} {
		status, got := say(t, srv.URL(), "2023-06-01", `{"model":"scripted","max_tokens":4096,"stream":true,`+tc.head+`"messages":[`+tc.messages+`]}`)
		if tc.says == "" && status == 200 {
			continue
		}
		if status != 400 || tc.says == "" || !strings.Contains(got, tc.says) || !strings.HasPrefix(got, `{"error":{"message":`) || !strings.Contains(got, `"type":"invalid_request_error"`) {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	for body, says := range map[string]string{
		`{"model":"scripted","stream":true,"messages":[]}`:                                      "max_tokens",
		`{"model":"scripted","max_tokens":1,"messages":[]}`:                                     "set stream to true",
		`{"stream":true,"max_tokens":1,"messages":[]}`:                                          "model: Field required",
		`{"model":"other","stream":true,"max_tokens":1,"messages":[` + user(text("a")) + `]}`:   `"type":"not_found_error"`,
		`{"model":"scripted","stream":true,"max_tokens":1,"messages":[` + user(text("a")) + `]`: "cannot be read",
	} {
		if status, got := say(t, srv.URL(), "2023-06-01", body); status < 400 || !strings.Contains(got, says) {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if status, got := say(t, srv.URL(), "", `{}`); status != 400 || !strings.Contains(got, "anthropic-version") {
		t.Errorf("without a version: %d %s", status, got)
	}
}

// Models of Anthropic refuse the forms of thinking that are not theirs.
func TestRefusedReasoning(t *testing.T) {
	srv, err := scripted.Serve(scripted.Config{Handler: scripted.Answers(scripted.Say(scripted.Text("fine")))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Close() }()
	const budget, adaptive, effort = `"thinking":{"type":"enabled","budget_tokens":1024}`, `"thinking":{"type":"adaptive"}`, `"output_config":{"effort":"low"}`
	for _, tc := range [][3]string{
		{"claude-opus-4-7", budget, "thinking.type.enabled"},
		{"claude-sonnet-5", budget, "thinking.type.enabled"},
		{"claude-opus-4-6", budget, ""},
		{"claude-sonnet-4-5-20250929", adaptive, "not supported on this model"},
		{"anthropic/claude-opus-4.6", adaptive, ""},
		{"claude-opus-4-20250514", effort, "effort parameter"},
		{"claude-opus-4-5-20251101", effort, ""},
		{"claude-3-5-sonnet-20241022", budget, "not supported on this model"},
		{"claude-3-7-sonnet-20250219", budget, ""},
		{"claude-opus-4-8", `"temperature":0.5`, "deprecated"},
		{"claude-opus-4-6", `"temperature":0.5`, ""},
	} {
		status, got := say(t, srv.URL(), "2023-06-01", `{"model":"`+tc[0]+`","max_tokens":4096,"stream":true,`+tc[1]+`,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`)
		if (status == 200) != (tc[2] == "") || !strings.Contains(got, tc[2]) {
			t.Errorf("%s with %s: %d %s", tc[0], tc[1], status, got)
		}
	}
}
