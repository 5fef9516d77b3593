package llmtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rule is code that some endpoint needs, and the tests that fail without it. old occurs once
// in the file.
type rule struct{ is, file, old, without, pkg, tests string }

var rules = []rule{
	{"reasoning goes back to its own model and endpoint only", "pkg/item/modelref.go", "(o.Model == \"\" || o.Model == s.Model)", "(o.Model != \"?\")", "pkg/llm/anthropic", "TestConformance"},
	{"the same over responses", "pkg/llm/openai/responsesbody.go", "v.Opaque.Fits(APIResponses, e.setup)", "v.Opaque.API == APIResponses", "pkg/llm/openai", "TestConformance"},
	{"the same over messages", "pkg/llm/anthropic/body.go", "v.Opaque.Fits(API, e.setup)", "v.Opaque.API == API", "pkg/llm/anthropic", "TestConformance"},
	{"a budget does not think about another model's calls", "pkg/llm/anthropic/head.go", " && !s.UnsignedCalls", "", "pkg/llm/anthropic", "TestUnsignedCalls"},
	{"hosts that want reasoning beside a call get it", "pkg/llm/openai/chatbody.go", " && e.quirks.NeedsReasoning", " && false", "pkg/llm/openai", "Test"},
	{"an empty call is none", "pkg/llm/openai/chatcalls.go", "		if id == \"\" && name == \"\" && args == \"\" {\n			return dst\n		}\n		call =", "		call =", "pkg/llm/openai", "Test"},
	{"output counts what only the total has", "pkg/llm/openai/chatdecode.go", "t.Output = max(t.Output, t.Total-t.Input)", "t.Output += 0 * t.Total", "pkg/llm/openai", "TestStreams"},
	{"a whole message beside deltas is not added to them", "pkg/llm/openai/chatdecode.go", "	if d.deltaAt == 0 {\n		dst, _ = d.addMessage", "	if true {\n		dst, _ = d.addMessage", "pkg/llm/openai", "TestStreams"},
	{"its final form wins", "pkg/llm/openai/chatdecode.go", "	if d.deltaAt > 0 && d.messageAt >= d.deltaAt && !d.inPieces {", "	if false {", "pkg/llm/openai", "TestStreams"},
	{"unless it came before the last delta", "pkg/llm/openai/chatdecode.go", " && d.messageAt >= d.deltaAt", "", "pkg/llm/openai", "TestStreams"},
	{"unless it is a piece", "pkg/llm/openai/chatdecode.go", " && !d.inPieces", "", "pkg/llm/openai", "TestStreams"},
	{"pieces of one call repeat its name", "pkg/llm/openai/chatcalls.go", "return other && args == \"\" && so == \"\"", "return other", "pkg/llm/openai", "TestStreams"},
	{"{} before the arguments is no call", "pkg/llm/openai/chatcalls.go", "return !exchange.IsEmpty(so) || c.list == list", "return true", "pkg/llm/openai", "TestStreams"},
	{"{} before the arguments is left out", "pkg/llm/openai/chatcalls.go", "end.Text = final", "_ = final", "pkg/llm/openai", "TestStreams"},
	{"the same over responses", "pkg/llm/openai/responsesitem.go", "exchange.Arguments(cmp.Or(it.final, it.text.String()))", "cmp.Or(it.final, it.text.String())", "pkg/llm/openai", "TestStreams"},
	{"the same over messages", "pkg/llm/anthropic/decode.go", "text := exchange.Arguments(c.text.String())", "text := c.text.String()", "pkg/llm/anthropic", "TestStreams"},
	{"the final form of an item wins", "pkg/llm/openai/responsesitem.go", "	it.final = final\n", "	it.final = cmp.Or(it.final, it.text.String(), final)\n", "pkg/llm/openai", "TestStreams"},
	{"and of a part", "pkg/llm/openai/responsesitem.go", "final := cmp.Or(it.final, it.joined())", "final := cmp.Or(it.final, it.text.String())", "pkg/llm/openai", "TestStreams"},
	{"arguments alone wait for the name", "pkg/llm/openai/responsesdecode.go", " || it.kind == llm.BlockToolCall && it.name == \"\" && !it.done", "", "pkg/llm/openai", "TestStreams"},
	{"items of the final list are known ones", "pkg/llm/openai/responsesdecode.go", "(*outputItem).isSame, (*outputItem).maybe}", "(*outputItem).isSame}", "pkg/llm/openai", "TestStreams"},
	{"reasoning without its message stays here", "pkg/llm/openai/responsesbody.go", "range encode.Spoken(items[:n])", "range items[:n]", "pkg/llm/openai", "TestConformance"},
	{"the same over messages", "pkg/llm/anthropic/body.go", "encode.Spoken(callsLast(items))", "callsLast(items)", "pkg/llm/anthropic", "TestConformance"},
	{"text behind calls goes before them", "pkg/llm/anthropic/body.go", "callsLast(items))", "items)", "pkg/llm/anthropic", "TestConformance"},
	{"a delta without its block begins one", "pkg/llm/anthropic/decode.go", "return d.begin(&content{index: index, kind: kind, stray: true})", "return new(content), nil", "pkg/llm/anthropic", "TestStreams"},
	{"a wait that the words ask for counts", "pkg/llm/exchange/waithint.go", "		take(waitInWords(m[1]))", "		_ = m", "pkg/llm/exchange", "TestWait"},
	{"a wait is shared", "pkg/llm/exchange/waits.go", "	if left := h.until.Sub(w.now()); left > 0 {", "	if left := h.until.Sub(w.now()); left > 1<<62 {", "pkg/llm/exchange", "TestWaitsAreShared"},
	{"one request tries first", "pkg/llm/exchange/waits.go", "	if h.trying {", "	if false {", "pkg/llm/exchange", "TestWaitsAreShared"},
	{"quirks of rows add up", "pkg/llm/exchange/quirks.go", "		if !from.Field(i).IsZero() {", "		if false {", "pkg/llm/exchange", "TestEachQuirkCounts"},
	{"the end of the setup is marked", "pkg/llm/openai/responsesbody.go", "	marked := q.CacheBreakpoint && ", "	marked := false && ", "pkg/llm/openai", "TestCacheBreakpoint"},
	{"the cache key is sent", "pkg/llm/openai/responsesbody.go", "	if q.CacheKey && ", "	if false && ", "pkg/llm/openai", "Test"},
	{"the last block is marked", "pkg/llm/anthropic/body.go", "		e.Dst = append(e.Dst, e.mark...)", "		_ = e.mark", "pkg/llm/anthropic", "TestBody|TestCacheYield"},
}

const root = "../../.."

// Without each rule a test fails. PODD_GUARDS_OFF=1 builds the packages once for each;
// otherwise the test only checks that the rules are where the table says.
func TestWithoutRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.is, func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join(root, r.file))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file) //nolint:gosec // a file of the project
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), r.old); n != 1 {
				t.Fatalf("%s has the rule %d times; change the table", r.file, n)
			}
			if os.Getenv("PODD_GUARDS_OFF") == "" {
				return
			}
			dir := t.TempDir()
			changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
			if err != nil {
				t.Fatal(err)
			}
			for path, content := range map[string]string{changed: strings.Replace(string(text), r.old, r.without, 1), overlay: string(replace)} {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=120s", "-overlay="+overlay, "-run="+r.tests, "./"+r.pkg) //nolint:gosec // words of the table
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			if err == nil || strings.Contains(string(out), "[build failed]") {
				t.Errorf("no test fails without it: %v\n%s", err, out)
			}
		})
	}
}
