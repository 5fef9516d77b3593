//go:build integrations

package attach

import (
	"os"
	"path/filepath"
	"testing"

	"podd/integrations/rig"
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

// An undo says that HEAD moved, and leaves it.
func TestUndoLeavesHead(t *testing.T) {
	w := rig.Prepare(t, scripted.Answers(
		scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo two > a-file.txt && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m second"}`}),
		scripted.Say(scripted.Text("Edited."))))
	w.Configure("ask = \"never\"\n[sandbox]\nmode = \"off\"\n")
	w.Start()
	w.Podctl("create", "p", "--dir", w.Workspace)
	git := w.Command("sh", "-ec", "git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first")
	git.Dir = w.Workspace
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newScreen(t, w, 160, 30, nil, "attach", "p")
	s.await("p · idle")
	s.typed("go on")
	s.keys("Enter")
	s.await("Edited.", "turn 1 finished")
	s.typed("/undo")
	s.keys("Enter")
	s.await("· stays: HEAD moved meanwhile; see git reflog", "Take back the changes of turn 1 in 1 path? [y/N]")
	s.typed("n")
	s.typed("/quit")
	s.keys("Enter")
	s.await("shell>")
}
