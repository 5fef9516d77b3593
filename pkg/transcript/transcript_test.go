package transcript_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

var update = flag.Bool("update", false, "write what the cases give")

// testCase is a file of testdata.
type testCase struct {
	About string `json:"about"`
	Last  int    `json:"last,omitempty"`
	// Messages are those of a stream, {"lost":{}} where it broke; Changes are the changes
	// that each makes.
	Messages []json.RawMessage `json:"messages"`
	// Wire are the messages as podd sends them, in base64, "" where the stream broke: for
	// clients without protobuf JSON.
	Wire    []json.RawMessage `json:"wire"`
	Changes []json.RawMessage `json:"changes"`
	Blocks  json.RawMessage   `json:"blocks"`
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want testCase
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := testCase{About: want.About, Last: want.Last, Messages: want.Messages}
	tr := transcript.New(transcript.Options{Last: want.Last})
	var m mirror
	for _, raw := range want.Messages {
		change, body := take(t, tr, raw)
		m.take(t, change)
		got.Wire = append(got.Wire, encode(t, body))
		got.Changes = append(got.Changes, encode(t, change))
	}
	got.Blocks = encode(t, tr.Blocks())
	if want.Last == 0 {
		// Blocks that left because of their age are still in the mirror.
		equal(t, "what the changes add up to", encode(t, m.shown()), got.Blocks)
	}
	if *update {
		write(t, file, got)
		return
	}
	if len(want.Changes) != len(got.Changes) || len(want.Wire) != len(got.Wire) {
		t.Fatalf("%d messages, %d changes: run with -update", len(want.Messages), len(want.Changes))
	}
	for i := range want.Changes {
		equal(t, "change "+string(want.Messages[i]), got.Changes[i], want.Changes[i])
		equal(t, "wire "+string(want.Messages[i]), got.Wire[i], want.Wire[i])
	}
	equal(t, "blocks", got.Blocks, want.Blocks)
}

// take feeds a message to a transcript, and returns its encoded form.
func take(t testing.TB, tr *transcript.Transcript, raw json.RawMessage) (c transcript.Change, body []byte) {
	t.Helper()
	var lost struct{ Lost *struct{} }
	if err := json.Unmarshal(raw, &lost); err == nil && lost.Lost != nil {
		tr.Lost()
		return c, []byte{}
	}
	var m poddv1.StreamResponse
	err := protojson.Unmarshal(raw, &m)
	if err == nil {
		body, err = proto.MarshalOptions{Deterministic: true}.Marshal(&m)
	}
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return tr.Apply(&m), body
}

func encode(t check, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func equal(t testing.TB, what string, got, want json.RawMessage) {
	t.Helper()
	var a, b bytes.Buffer
	if json.Compact(&a, got) != nil || json.Compact(&b, want) != nil || a.String() != b.String() {
		t.Errorf("%s:\n%s\nwant\n%s", what, a.String(), b.String())
	}
}

// write has a line for each message, change and block.
func write(t *testing.T, file string, c testCase) {
	t.Helper()
	var b strings.Builder
	list := func(name string, lines []json.RawMessage, end string) {
		b.WriteString(` "` + name + "\": [")
		for i, line := range lines {
			var compact bytes.Buffer
			if err := json.Compact(&compact, line); err != nil {
				t.Fatal(err)
			}
			b.WriteString(map[bool]string{true: "\n  ", false: ",\n  "}[i == 0] + compact.String())
		}
		b.WriteString("\n ]" + end + "\n")
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(c.Blocks, &blocks); err != nil {
		t.Fatal(err)
	}
	b.WriteString("{\n \"about\": " + string(encode(t, c.About)) + ",\n")
	if c.Last > 0 {
		b.WriteString(" \"last\": " + string(encode(t, c.Last)) + ",\n")
	}
	list("messages", c.Messages, ",")
	list("wire", c.Wire, ",")
	list("changes", c.Changes, ",")
	list("blocks", blocks, "")
	b.WriteString("}\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mirror is the state of a client that receives changes as JSON, as the bridge sends
// them.
type mirror struct{ blocks []transcript.Block }

func (m *mirror) take(t check, c transcript.Change) {
	t.Helper()
	var sent transcript.Change
	if err := json.Unmarshal(encode(t, c), &sent); err != nil {
		t.Fatal(err)
	}
	find := func(id string) int {
		for i, b := range m.blocks {
			if b.ID == id {
				return i
			}
		}
		return -1
	}
	for _, id := range sent.Drop {
		if i := find(id); i >= 0 {
			m.blocks = append(m.blocks[:i:i], m.blocks[i+1:]...)
		} else {
			t.Errorf("%s is dropped and not there", id)
		}
	}
	for _, p := range sent.Put {
		i := find(p.Block.ID)
		if i < 0 {
			m.blocks = append(m.blocks, transcript.Block{Kind: p.Block.Kind})
			i = len(m.blocks) - 1
		}
		before := m.blocks[i]
		if p.Block.Kind == transcript.Tool {
			p.Block.Detail = before.Detail[:p.Kept] + p.Block.Detail
		} else {
			p.Block.Text = before.Text[:p.Kept] + p.Block.Text
		}
		m.blocks[i] = p.Block
	}
}

func (m *mirror) shown() []transcript.Block {
	var list []transcript.Block
	for _, b := range m.blocks {
		if b.State != transcript.Lost {
			list = append(list, b)
		}
	}
	return list
}

// Each kind of entry and item has its case in the fold, even if that only says that it is
// not a block.
func TestNoKindIsForgotten(t *testing.T) {
	fold, err := os.ReadFile("entry.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"entry.go", "item.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../item", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		kinds := 0
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "isKind" && f.Name.Name != "isItem" {
				continue
			}
			kinds++
			if name := "item." + f.Recv.List[0].Type.(*ast.Ident).Name; !strings.Contains(string(fold), name) {
				t.Errorf("entry.go does not name %s: make a block of it, or add it to those that are not blocks", name)
			}
		}
		if kinds == 0 {
			t.Errorf("no kinds in %s", file)
		}
	}
}

// check is the common part of a test, a property and a fuzz test.
type check interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}
