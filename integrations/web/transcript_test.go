//go:build integrations

package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"podd/integrations/rig"
	poddv1 "podd/proto/podd/v1"
)

// TestTranscript gives the page's transcript the cases of pkg/transcript.
func TestTranscript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(rig.Root(), "pkg", "transcript", "testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []map[string]any
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := map[string]any{"name": filepath.Base(file)}
		var wire struct{ Wire [][]byte }
		if err := json.Unmarshal(content, &c); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, &wire); err != nil {
			t.Fatal(err)
		}
		messages := make([]json.RawMessage, len(wire.Wire))
		for i, body := range wire.Wire {
			// An empty one stands for a lost connection.
			messages[i] = json.RawMessage("null")
			var m poddv1.StreamResponse
			if len(body) == 0 {
				continue
			}
			if err := proto.Unmarshal(body, &m); err != nil {
				t.Fatal(err)
			}
			if messages[i], err = protojson.Marshal(&m); err != nil {
				t.Fatal(err)
			}
		}
		c["messages"] = messages
		cases = append(cases, c)
	}
	content, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
	w := rig.Prepare(t, model)
	n := w.Command("node", "--test", "--test-reporter=tap", filepath.Join(rig.Root(), "integrations", "web", "transcript.test.mjs"))
	n.Env = append(n.Env, "CASES="+to)
	rig.Run(t, n)
}
