package files_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"podd/internal/files"
)

// twoLines are two lines with others between.
func twoLines(first, last string) string {
	return first + "\n" + strings.Repeat("between\n", 5) + last + "\n"
}

// merging are steps that merge.
func merging(steps []files.Step) []files.Step {
	for i := range steps {
		steps[i].Merge = true
	}
	return steps
}

// lines draws a text of a few different lines.
func lines(t *rapid.T, label string) string {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 8).Draw(t, label), "\n")
	if rapid.Bool().Draw(t, label+" ends") {
		text += "\n"
	}
	return text
}

func TestMergeOfAnyTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := lines(t, "base"), lines(t, "ours"), lines(t, "theirs")
		merge := func(base, ours, theirs string) string {
			text, ok := files.Merge([]byte(base), []byte(ours), []byte(theirs))
			if !ok {
				return "conflict"
			}
			return string(text)
		}
		if got := merge(base, ours, base); got != ours {
			t.Errorf("nothing of theirs: %q", got)
		}
		if got := merge(base, base, theirs); got != theirs {
			t.Errorf("nothing of ours: %q", got)
		}
		if got := merge(base, ours, ours); got != ours {
			t.Errorf("the same change: %q", got)
		}
		if a, b := merge(base, ours, theirs), merge(base, theirs, ours); a != b {
			t.Errorf("%q, and the other way round %q", a, b)
		}
	})
}

// Where lines are distinct, a clean merge is git's, and a conflict of git's is one.
func TestMergeIsGits(t *testing.T) {
	dir := t.TempDir()
	clean, apart := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "lines")
		var base []string
		for i := range n {
			base = append(base, fmt.Sprintf("line %d\n", i))
		}
		change := func(who string) string {
			var b strings.Builder
			for i, line := range base {
				switch rapid.IntRange(0, 9).Draw(t, who) {
				case 0:
					fmt.Fprintf(&b, "%s %d\n", who, i)
				case 1:
				case 2:
					fmt.Fprintf(&b, "%s%s before %d\n", line, who, i)
				default:
					b.WriteString(line)
				}
			}
			return b.String()
		}
		texts := [3]string{change("ours"), strings.Join(base, ""), change("theirs")}
		args := []string{"merge-file", "-p", "-q"}
		for i, text := range texts {
			path := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, path)
		}
		want, err := exec.Command("git", args...).Output()
		got, ok := files.Merge([]byte(texts[1]), []byte(texts[0]), []byte(texts[2]))
		switch {
		case ok && (err != nil || string(got) != string(want)):
			t.Fatalf("%q\nmerges to %q\ngit: %q, %v", texts, got, want, err)
		case ok:
			clean++
		default:
			apart++
		}
	})
	if clean == 0 || apart == 0 {
		t.Errorf("%d clean merges, %d conflicts", clean, apart)
	}
}

// A text that a person changed elsewhere loses the agent's change and keeps the person's. A text
// that both changed in a line, and what is no text, stay.
func TestMergedUndo(t *testing.T) {
	d := open(t)
	for _, name := range []string{"apart", "same", "mode", "both"} {
		d.write(name, twoLines("before", "before"))
	}
	d.write("binary", "a\x00\nb\nc\nd\n")
	d.take(files.Look{})
	d.write("apart", twoLines("agent", "before"))
	d.write("same", twoLines("agent", "before"))
	d.write("mode", twoLines("agent", "before"))
	d.must(os.Chmod(d.path("mode"), 0o755))
	d.write("both", twoLines("agent", "before"))
	d.must(os.Chmod(d.path("both"), 0o755))
	d.write("binary", "agent\x00\nb\nc\nd\n")
	d.take(files.Look{Agent: true})
	d.write("apart", twoLines("agent", "person"))
	d.write("same", twoLines("person", "before"))
	d.write("mode", twoLines("agent", "person"))
	d.write("both", twoLines("agent", "person"))
	d.must(os.Chmod(d.path("both"), 0o700))
	d.write("binary", "agent\x00\nb\nc\nperson\n")
	before := contents(t, d.dir)

	steps, err := d.w.Steps(d.line[1:])
	d.must(err)
	todo, conflicts, err := d.w.Plan(t.Context(), merging(steps))
	if err != nil || len(todo) != 2 || len(conflicts) != 3 {
		t.Fatalf("todo %v, conflicts %v, %v", todo, conflicts, err)
	}
	d.same(before, "after a plan")
	done, err := d.w.Restore(t.Context(), steps)
	if err != nil || fmt.Sprint(done.Merged, done.Paths) != "[apart mode] [apart mode]" || len(done.Conflicts) != 3 {
		t.Fatalf("restored %+v, %v", done, err)
	}
	want := maps.Clone(before)
	want["apart"] = "-rw-r--r-- " + twoLines("before", "person")
	want["mode"] = want["apart"]
	d.same(want, "after the restore")

	if done, err = d.w.Restore(t.Context(), steps); err != nil || len(done.Paths) != 0 {
		t.Errorf("once more: %+v, %v", done, err)
	}
	d.same(want, "after another restore")
}

// Whatever a killed restore left aside, what a person wrote is in its place or in a file of its
// own, and nothing else lies about.
func TestSettledRestore(t *testing.T) {
	agent, before := twoLines("agent", "old"), twoLines("before", "old")
	mine, merged := twoLines("agent", "mine"), twoLines("before", "mine")
	yours, yoursMerged := twoLines("agent", "yours"), twoLines("before", "yours")
	for name, c := range map[string]struct {
		// aside has the name of one that merges to this text.
		merge             string
		aside, at         string
		want, wantBesides string
	}{
		"not exchanged":                 {aside: before, at: agent, want: before},
		"not whole":                     {aside: before[:9], at: agent, want: before},
		"not whole, changed since":      {aside: before[:9], at: yours, want: yoursMerged},
		"exchanged":                     {aside: agent, at: before, want: before},
		"exchanged, a person's":         {aside: "mine\n", at: before, want: "mine\n"},
		"exchanged, changed since":      {aside: "mine\n", at: "yours\n", want: "yours\n", wantBesides: "mine\n"},
		"not merged":                    {merge: merged, aside: merged, at: mine, want: merged},
		"half merged":                   {merge: merged, aside: merged[:9], at: mine, want: merged},
		"not merged, changed since":     {merge: merged, aside: merged, at: yours, want: yoursMerged},
		"merged":                        {merge: merged, aside: mine, at: merged, want: merged},
		"merged, changed since":         {merge: merged, aside: mine, at: "yours\n", want: "yours\n"},
		"merged, a person's":            {merge: merged, aside: yours, at: merged, want: yoursMerged},
		"merged, a person's other":      {merge: merged, aside: "yours\n", at: merged, want: "yours\n"},
		"merged, both changed meantime": {merge: merged, aside: "yours\n", at: "theirs\n", want: "theirs\n", wantBesides: "yours\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.write("a", before)
			d.take(files.Look{})
			d.write("a", agent)
			d.take(files.Look{Agent: true})
			steps, err := d.w.Steps(d.line[1:])
			d.must(err)
			temp, err := d.w.Killed(merging(steps)[0], c.merge)
			d.must(err)
			d.write(temp, c.aside)
			d.write("a", c.at)
			_, err = d.w.Restore(t.Context(), merging(steps))
			d.must(err)
			want := map[string]string{"a": "-rw-r--r-- " + c.want}
			if c.wantBesides != "" {
				want["a.podd-saved"] = "-rw-r--r-- " + c.wantBesides
			}
			d.same(want, "settled")
		})
	}
}
