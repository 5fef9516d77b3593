package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"podd/internal/extend/mcp"
	"podd/pkg/tool"
)

// asked is what a wild server is asked.
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor          string `json:"cursor"`
		ProtocolVersion string `json:"protocolVersion"`
	} `json:"params"`
	// n counts the requests of this method before this one.
	n int
}

// result is the usual answer.
func (a asked) result() string {
	switch a.Method {
	case "initialize":
		return rawGreeting
	case "tools/list":
		return toolsPage("hello", "")
	case "resources/list":
		return `{"resources":[{"uri":"test://one","name":"one"}]}`
	case "prompts/list":
		return `{"prompts":[{"name":"greet"}]}`
	case "tools/call":
		return fmt.Sprintf(`{"content":[{"type":"text","text":"hello-%d"}]}`, a.n)
	}
	return "{}"
}

func toolsPage(name, cursor string) string {
	return fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}}],"nextCursor":%q}`, name, cursor)
}

// with is the answer with this result; an empty one is the usual one.
func (a asked) with(result string) string {
	if result == "" {
		result = a.result()
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.ID, result)
}

func (a asked) refuse(failure string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, a.ID, failure)
}

// only answers one method in this way.
func only(method string, answer func(asked) string) func(asked) string {
	return func(a asked) string {
		if a.Method == method {
			return answer(a)
		}
		return a.with("")
	}
}

// calls answers calls with this result, lists those of a method.
func calls(result string) func(asked) string { return results("tools/call", result) }

func results(method, result string) func(asked) string {
	return only(method, func(a asked) string { return a.with(result) })
}

// beside prints lines before each answer.
func beside(lines string) func(asked) string {
	return func(a asked) string { return lines + "\n" + a.with("") }
}

// ids returns ids in another form.
func ids(form string) func(asked) string {
	return func(a asked) string {
		a.ID = json.RawMessage(fmt.Sprintf(form, a.ID))
		return a.with("")
	}
}

// cursors lists one tool for each page, and gives the cursor of the next page.
func cursors(next func(string) string) func(asked) string {
	return only("tools/list", func(a asked) string { return a.with(toolsPage("hello", next(a.Params.Cursor))) })
}

func counted(cursor string) string {
	n, _ := strconv.Atoi(cursor)
	return strconv.Itoa(n + 1)
}

// wild has servers that deviate from the protocol.
var wild = map[string]struct {
	answer func(asked) string
	// tool is called with arguments. want is in the result, or in the error; empty means hello-0.
	tool, arguments, want string
	// alert is in an alert; none is raised if it is empty.
	alert string
}{
	"good":            {answer: beside("")},
	"log objects":     {answer: beside(`{"level":"info","msg":"starting"}` + "\n" + `{"id":1,"level":"info","result":"no"}`), alert: "prints text"},
	"log lists":       {answer: beside(`["starting"]` + "\n[1,2]\n[]\n" + `[{"level":"info"}]`), alert: "prints text"},
	"log values":      {answer: beside("\"starting\"\n42\nnull\ntrue\n{}\n" + `{"jsonrpc":"2.0"}`), alert: "prints text"},
	"log with method": {answer: beside(`{"method":"GET","path":"/","status":200}`), alert: "prints text"},
	"batch":           {answer: func(a asked) string { return "[" + a.with("") + "]" }},
	"batch with log":  {answer: func(a asked) string { return `[{"level":"info"},` + a.with("") + "]" }},
	"two on a line":   {answer: func(a asked) string { return `{"jsonrpc":"2.0","method":"notifications/x"} ` + a.with("") }},
	"byte order mark": {answer: func(a asked) string { return "\ufeff" + a.with("") }},
	"no version":      {answer: func(a asked) string { return strings.Replace(a.with(""), `"jsonrpc":"2.0",`, "", 1) }},
	"other version":   {answer: func(a asked) string { return strings.Replace(a.with(""), `"2.0"`, `2.0`, 1) }},

	"ids as strings":       {answer: ids(`"%s"`)},
	"ids with fractions":   {answer: ids("%s.0")},
	"ids as such strings":  {answer: ids(`"%s.0"`)},
	"error null":           {answer: func(a asked) string { return strings.TrimSuffix(a.with(""), "}") + `,"error":null}` }},
	"error false":          {answer: func(a asked) string { return strings.TrimSuffix(a.with(""), "}") + `,"error":false}` }},
	"errors without id":    {answer: beside(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)},
	"errors with no id":    {answer: beside(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}`)},
	"answers to others":    {answer: beside(`{"jsonrpc":"2.0","id":777,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","result":{}}`)},
	"refused":              {answer: only("tools/call", func(a asked) string { return a.refuse(`{"code":-32602,"message":"bad"}`) }), want: "refused the call: bad"},
	"refused by a string":  {answer: only("tools/call", func(a asked) string { return a.refuse(`"boom"`) }), want: "refused the call: boom"},
	"refused by an object": {answer: only("tools/call", func(a asked) string { return a.refuse(`{"code":"E1","message":{"why":"boom"}}`) }), want: `refused the call: {"why":"boom"}`},

	"cursor stays":        {answer: cursors(func(string) string { return "x" }), alert: "its list of tools does not end"},
	"cursors in a circle": {answer: cursors(func(c string) string { return map[string]string{"": "a", "a": "b", "b": "a"}[c] }), alert: "does not end"},
	"cursor grows":        {answer: cursors(counted), alert: "does not end"},
	"cursor with tools": {answer: only("tools/list", func(a asked) string {
		return a.with(toolsPage(strings.Repeat("hello", 1+min(1, a.n))+strings.Repeat("x", a.n), counted(a.Params.Cursor)))
	}), alert: "does not end"},
	"empty pages": {answer: only("tools/list", func(a asked) string {
		return a.with(map[bool]string{true: toolsPage("hello", "1"), false: `{"tools":[],"nextCursor":"` + counted(a.Params.Cursor) + `"}`}[a.n == 0])
	}), alert: "does not end"},
	"cursor as a number": {answer: only("tools/list", func(a asked) string { return a.with(`{"tools":[{"name":"hello","inputSchema":{}}],"nextCursor":5}`) }), alert: "does not end"},
	"cursor refused": {answer: only("tools/list", func(a asked) string {
		return map[bool]string{true: a.with(toolsPage("hello", "1")), false: a.refuse(`{"code":-32602,"message":"Invalid cursor"}`)}[a.n == 0]
	}), alert: "does not list all of its tools: calling \"tools/list\": Invalid cursor"},
	"page without end": {answer: only("tools/list", func(a asked) string {
		return map[bool]string{true: a.with(toolsPage("hello", "1")), false: ""}[a.n == 0]
	}), alert: "does not list all of its tools"},
	"resources for ever": {answer: results("resources/list", `{"resources":[{"uri":"test://one","name":"one"}],"nextCursor":"x"}`), alert: "its list of resources does not end"},
	"prompts for ever": {answer: only("prompts/list", func(a asked) string {
		return a.with(`{"prompts":[{"name":"greet"}],"nextCursor":"` + counted(a.Params.Cursor) + `"}`)
	}), alert: "its list of prompts does not end"},
	"resources refused":    {answer: only("resources/list", func(a asked) string { return a.refuse(`{"code":-32603,"message":"no database"}`) }), alert: "does not list all of its resources"},
	"resources in silence": {answer: only("resources/list", func(asked) string { return "" }), alert: "does not list all of its resources"},
	"half a tool":          {answer: results("tools/list", `{"tools":[{"name":"hello","description":7,"inputSchema":{},"annotations":"none"},"x",{"name":1},null]}`), alert: "not usable"},
	"capabilities as true": {answer: results("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"tools":true,"logging":1},"serverInfo":"x","instructions":[]}`)},

	"block of another kind": {answer: calls(`{"content":[{"type":"text","text":"one"},{"type":"json","json":{"doi":"10.1/x"}}]}`), want: "one\n[content of the kind json, as the server sent it]\n" + `{"type":"json","json":{"doi":"10.1/x"}}`},
	"block without kind":    {answer: calls(`{"content":[{"doi":"10.1/x"}]}`), want: `{"doi":"10.1/x"}`},
	"text in another place": {answer: calls(`{"content":[{"type":"text","content":"10.1/x"}]}`), want: "10.1/x"},
	"text that is JSON":     {answer: calls(`{"content":[{"type":"text","text":{"doi":"10.1/x"}}]}`), want: `"doi":"10.1/x"`},
	"image that is none":    {answer: calls(`{"content":[{"type":"image","data":"%%","mimeType":"image/png"},{"type":"text","text":"10.1/x"}]}`), want: "10.1/x"},
	"strings as blocks":     {answer: calls(`{"content":["10.1/x",7]}`), want: "10.1/x\n7"},
	"content as a string":   {answer: calls(`{"content":"10.1/x"}`), want: "10.1/x"},
	"content as an object":  {answer: calls(`{"content":{"type":"text","text":"10.1/x"}}`), want: "10.1/x"},
	"content that is none":  {answer: calls(`{"content":{"doi":"10.1/x"}}`), want: `{"doi":"10.1/x"}`},
	"content as a number":   {answer: calls(`{"content":17}`), want: "17"},
	"content missing":       {answer: calls(`{"papers":["10.1/x"],"_meta":{}}`), want: `{"papers":["10.1/x"]}`},
	"old result":            {answer: calls(`{"toolResult":"10.1/x"}`), want: `{"toolResult":"10.1/x"}`},
	"result as a string":    {answer: calls(`"10.1/x"`), want: "10.1/x"},
	"result as a list":      {answer: calls(`["10.1/x"]`), want: `["10.1/x"]`},
	"result null":           {answer: calls(`null`), want: "done, no output"},
	"result missing":        {answer: only("tools/call", func(a asked) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s}`, a.ID) }), want: "done, no output"},
	"structured list":       {answer: calls(`{"content":[],"structuredContent":["hello-0","two"]}`), want: `["hello-0","two"]`},
	"members of other kind": {answer: calls(`{"content":[{"type":"text","text":"10.1/x","annotations":3}],"_meta":7,"isError":"false"}`), want: "10.1/x"},
	"deep":                  {answer: calls(`{"content":[],"structuredContent":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`), want: "in a form that podd cannot read"},
	"resource as a string":  {answer: results("resources/read", `{"contents":"10.1/x"}`), tool: "read_resource", arguments: `{"uri":"test://one"}`, want: "10.1/x"},
	"resource of bad bytes": {answer: results("resources/read", `{"contents":[{"uri":"test://one","blob":"%%"}]}`), tool: "read_resource", arguments: `{"uri":"test://one"}`, want: `"blob":"%%"`},
	"resource alone":        {answer: results("resources/read", `{"uri":"test://one","text":"10.1/x"}`), tool: "read_resource", arguments: `{"uri":"test://one"}`, want: "10.1/x"},
	"prompt as strings":     {answer: results("prompts/get", `{"messages":[{"role":"user","content":"10.1/x"}]}`), tool: "get_prompt", arguments: `{"name":"greet"}`, want: "user: 10.1/x"},
	"prompt in blocks":      {answer: results("prompts/get", `{"messages":[{"role":"user","content":[{"type":"text","text":"10.1/x"},{"type":"odd"}]}]}`), tool: "get_prompt", arguments: `{"name":"greet"}`, want: "user: 10.1/x\nuser: [content of the kind odd"},

	"version in data":          {answer: versions(`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26","2027-01-01"],"requested":"2025-11-25"}}`, "2025-03-26")},
	"version in words":         {answer: versions(`{"code":-32600,"message":"Bad Request: use one of 2025-06-18, 2025-03-26"}`, "2025-06-18")},
	"versions in a row":        {answer: versions(`{"code":-32602,"message":"not that one","data":["2025-06-18","2025-03-26"]}`, "2025-03-26")},
	"last line without an end": {answer: only("tools/call", func(a asked) string { return a.with("") + "\x00" })},
}

// versions refuses all versions of the protocol but one.
func versions(refusal, accepted string) func(asked) string {
	return only("initialize", func(a asked) string {
		if a.Params.ProtocolVersion != accepted {
			return a.refuse(refusal)
		}
		return a.with(strings.Replace(rawGreeting, "2025-11-25", accepted, 1))
	})
}

// wildServer is one of them as a process. An answer that ends with NUL is its last, without the
// end of a line.
func wildServer(name string) {
	scanner := bufio.NewScanner(os.Stdin)
	count := map[string]int{}
	for scanner.Scan() {
		var a asked
		if json.Unmarshal(scanner.Bytes(), &a) != nil || a.ID == nil || a.Method == "" {
			continue
		}
		a.n = count[a.Method]
		count[a.Method]++
		answer := wild[name].answer(a)
		if last, ends := strings.CutSuffix(answer, "\x00"); ends {
			fmt.Print(last)
			return
		}
		if answer != "" {
			fmt.Println(answer)
		}
	}
}

// What a person can understand of a server's answers is not lost, and no answer passes as the
// end of the server.
func TestWildServers(t *testing.T) {
	t.Parallel()
	for name, c := range wild {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.Contains(name, "silence") || strings.Contains(name, "without end") {
				limit = 2 * time.Second
			}
			b := wildBench(t, name, limit)
			// One that has not started at the end of its time gets more.
			for limit < time.Minute && len(b.Tools(t.Context(), []mcp.Server{b.server}, b.dir, true)) == 0 {
				b.Close()
				limit *= 2
				b = wildBench(t, name, limit)
			}
			wildCall(t, b, c.tool, c.arguments, c.want)
			if b.Look(b.server, b.dir).State != mcp.Running && name != "last line without an end" {
				t.Errorf("the server does not run: %+v", b.Look(b.server, b.dir))
			}
			b.Close()
			alerts := b.told()
			if name == "last line without an end" {
				return
			}
			if c.alert == "" && len(alerts) > 0 || c.alert != "" && (len(alerts) != 1 || !strings.Contains(alerts[0], c.alert)) {
				t.Errorf("alerts: %q", alerts)
			}
		})
	}
}

// wildCall calls a tool of a wild server; its result or error must have want.
func wildBench(t *testing.T, name string, limit time.Duration) *bench {
	t.Helper()
	b := newBench(t, "wild")
	b.server.Env = append(b.server.Env, "MCP_TEST_WILD="+name)
	b.server.StartTimeout = limit
	return b
}

func wildCall(t *testing.T, b *bench, name, arguments, want string) {
	t.Helper()
	if name == "" {
		name, arguments = "hello", "{}"
	}
	if want == "" {
		want = "hello-0"
	}
	out, err := b.tool(name).Run(t.Context(), &tool.Invocation{Arguments: arguments})
	got := text(out)
	if err != nil {
		got = err.Error()
	}
	if !strings.Contains(got, want) || strings.Contains(got, "may have taken effect") {
		t.Errorf("got %q, want %q", got, want)
	}
}
