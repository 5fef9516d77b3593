//go:build integrations

package attach

import (
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/llm/scripted"
)

// What the agent changed in files is shown, and taken back after a yes.
func TestUndo(t *testing.T) {
	w := world(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "edit_file", Arguments: `{"path":"a-file.txt","old":"one","new":"two"}`}),
		scripted.Say(scripted.Text("Edited."))))
	s := newScreen(t, w, 90, 30, nil, "attach", "p")
	s.await("p · idle")
	s.typed("/undo")
	s.keys("Enter")
	s.await("pod p has no changes of files")
	s.typed("go on")
	s.keys("Enter")
	s.await("Edited.", "turn 1 finished")
	s.typed("/diff")
	s.keys("Enter")
	s.await("changed ", "a-file.txt, +1 -1")
	s.typed("/undo")
	s.keys("Enter")
	s.await("Take back the changes of turn 1 in 1 path? [y/N]")
	s.typed("y")
	s.await("changes of files were taken back: 1 path changed")
	if got, err := os.ReadFile(filepath.Join(w.Workspace, "a-file.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("a-file.txt is %q, %v", got, err)
	}
	s.typed("/quit")
	s.keys("Enter")
	s.await("shell>")
}
