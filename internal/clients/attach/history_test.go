package attach

import (
	"testing"

	"podd/internal/clients/desk"
	poddv1 "podd/proto/podd/v1"
)

// A draft survives everything that shows another text in its place, and what deletes it at once.
func TestDraftsSurvive(t *testing.T) {
	const up, down, search, esc, enter, ctrlC, kill, back = keyPrevious, keyNext, keySearch, keyEscape, keyEnter, keyInterrupt, keyDeleteToStart, keyBackspace
	for name, tt := range map[string]struct {
		pressed []any
		want    string
	}{
		"history":                        {[]any{"draft", up, up, down, down}, "draft"},
		"beyond the end of the history":  {[]any{"draft", up, up, up, down, down, down, down}, "draft"},
		"a draft instead of a prompt":    {[]any{up, kill, "draft", up, down, down}, "draft"},
		"a changed prompt":               {[]any{up, up, " more", up, down}, "one more"},
		"a draft, then a changed prompt": {[]any{"draft", up, " more", up}, "draft"},
		"a prompt deleted":               {[]any{"draft", up, kill, down}, "draft"},
		"search left":                    {[]any{"draft", search, "one", esc, up, down}, "draft"},
		"search ended by Ctrl-C":         {[]any{"draft", search, "one", ctrlC}, "draft"},
		"search taken":                   {[]any{"draft", search, "one", enter, down, down}, "draft"},
		"search in the history":          {[]any{"draft", up, search, "one", esc, down}, "draft"},
		"search for nothing there":       {[]any{"draft", search, "zzz", enter, up, down}, "draft"},
		"Ctrl-C":                         {[]any{"draft", ctrlC, up}, "draft"},
		"Ctrl-C, and another":            {[]any{"draft", ctrlC, "other", ctrlC, up, up}, "draft"},
		"Ctrl-C at a prompt":             {[]any{"draft", up, ctrlC, down}, "draft"},
		"Ctrl-C at a changed prompt":     {[]any{"draft", up, " more", ctrlC, down}, "two more"},
		"the line deleted":               {[]any{"draft", kill, up}, "draft"},
		"a paste deleted":                {[]any{key{keyPaste, "a\nb\n"}, back, up}, "a\nb\n"},
		"a prompt sent before it":        {[]any{"draft", up, "sent", up, up}, "draft"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t.Context(), nil, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
			a.ready, a.columns, a.rows, a.Desk.History = true, 80, 24, false
			a.prompt.history.add(*written("one"), "1")
			a.prompt.history.add(*written("two"), "2")
			for _, p := range tt.pressed {
				switch p := p.(type) {
				case string:
					if p == "sent" { // As submit does.
						sent := a.prompt.draft
						a.prompt.draft.clear()
						a.prompt.history.add(sent, "3")
						continue
					}
					for _, r := range p {
						a.press(key{keyText, string(r)})
					}
				case keyKind:
					a.press(key{kind: p})
				case key:
					a.press(p)
				}
			}
			if got := a.prompt.draft.whole(); got != tt.want || a.quit {
				t.Errorf("the draft is %q, want %q", got, tt.want)
			}
		})
	}
}
