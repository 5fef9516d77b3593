package files_test

import (
	"errors"
	"os"
	"testing"

	"podd/internal/files"
	"podd/pkg/item"
)

// replace puts another directory in the place of the desk's, as a person does who moves it away.
func (d *desk) replace(line string) {
	d.sh(`here=$PWD; cd ..; mv "$here" "$here.old"; ` + line)
}

// Another directory in the place of the one in which a turn works is a person's, with all that it has.
func TestReplacedDirectory(t *testing.T) {
	for name, line := range map[string]string{
		"another":  `mkdir "$here"; echo mine >"$here/which"; echo mine >"$here/precious"`,
		"a copy":   `cp -a "$here.old" "$here"; echo mine >"$here/which"; echo mine >"$here/precious"`,
		"a link":   `mkdir "$here.new"; echo mine >"$here.new/which"; echo mine >"$here.new/precious"; ln -s "$here.new" "$here"`,
		"the same": `cp -a "$here.old" "$here.new"; rm -r "$here.old"; mv "$here.new" "$here"; mkdir "$here.old"; echo mine >"$here/which"; echo mine >"$here/precious"`,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.write("which", "old")
			d.write("same", "same")
			held, err := os.Stat(d.dir)
			d.must(err)
			d.take(files.Look{Held: held})
			d.replace(line)
			t.Cleanup(func() { d.must(errors.Join(os.RemoveAll(d.dir+".old"), os.RemoveAll(d.dir+".new"))) })
			before := contents(t, d.dir)
			look := files.Look{Held: held, Agent: true, After: d.line[0].Commit, Branch: "pod", Message: "test"}
			if taken, err := d.w.Take(t.Context(), look); !errors.Is(err, files.ErrReplaced) || len(taken) > 0 {
				t.Errorf("taken %+v, %v", taken, err)
			}
			// podd was killed meanwhile: the tools of the turn have the directory that has the path now.
			d.reopen()
			held, err = os.Stat(d.dir)
			d.must(err)
			if taken := d.take(files.Look{Held: held, Agent: true, Paths: []string{d.path("which")}}); len(taken) != 1 || taken[0].By != item.ByPerson {
				t.Errorf("taken %+v", taken)
			}
			if done, conflicts := d.undo(0); len(done.Paths)+len(conflicts) > 0 {
				t.Errorf("restored %+v, %v", done, conflicts)
			}
			d.same(before, "after the undo")
			// From now on the agent works there.
			d.write("which", "agent")
			d.write("made", "agent")
			d.take(files.Look{Held: held, Agent: true})
			if _, conflicts := d.undo(1); len(conflicts) > 0 {
				t.Error(conflicts)
			}
			d.same(before, "after the agent's undo")
		})
	}
}

// A copy with the same files in the place of the directory changes nothing about undo.
func TestReplacedDirectoryWithTheSameFiles(t *testing.T) {
	d := open(t)
	d.write("which", "old")
	d.take(files.Look{})
	d.write("which", "agent")
	d.take(files.Look{Agent: true})
	d.replace(`cp -a "$here.old" "$here"; rm -r "$here.old"`)
	if taken := d.take(files.Look{}); len(taken) != 1 || taken[0].By != item.ByPerson || taken[0].Changed != 0 {
		t.Errorf("taken %+v", taken)
	}
	d.write("which", "agent again")
	d.take(files.Look{Agent: true})
	if _, conflicts := d.undo(0); len(conflicts) > 0 {
		t.Error(conflicts)
	}
	d.same(map[string]string{"which": "-rw-r--r-- old"}, "after the undo")
	if taken := d.take(files.Look{Restored: true, Paths: []string{d.path("which")}}); len(taken) != 1 || taken[0].By != item.ByRestore {
		t.Errorf("taken %+v", taken)
	}
}
