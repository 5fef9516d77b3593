package view

import (
	"cmp"
	"fmt"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// ChangedFile says in one safe line what became of a file.
func ChangedFile(f *poddv1.ChangedFile) string {
	what := cmp.Or(f.GetAfter(), f.GetBefore())
	if what == "file" {
		what = ""
	} else {
		what = " " + what
	}
	verb := "changed"
	switch {
	case f.GetBefore() == "":
		verb = "made"
	case f.GetAfter() == "":
		verb = "deleted"
	}
	title := fmt.Sprintf("%s%s %s", verb, what, sanitize.Line(f.GetPath()))
	if f.GetMode() != "" {
		title += ", mode " + sanitize.Line(f.GetMode())
	}
	if f.GetAdded()+f.GetRemoved() > 0 {
		title += fmt.Sprintf(", +%d -%d", f.GetAdded(), f.GetRemoved())
	}
	return title
}
