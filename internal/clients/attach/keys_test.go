package attach

import (
	"bytes"
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// presses is a model that notes the keys of what a terminal sends.
type presses struct {
	keys  *[]key
	until string
}

func (p presses) Init() tea.Cmd { return nil }

func (p presses) View() tea.View { return tea.View{} }

func (p presses) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.Text == p.until {
			return p, tea.Quit
		}
		if k := keyOf(msg); k.kind != keyOther {
			*p.keys = append(*p.keys, k)
		}
	case tea.PasteMsg:
		if msg.Content != "" {
			*p.keys = append(*p.keys, key{keyPaste, pasteText(msg.Content)})
		}
	}
	return p, nil
}

// last ends what a test sends; ends, before it, end a string or a paste that is open.
const (
	last = "\u2318"
	ends = "\x1b\\\x1b[201~"
)

// pressed are the keys that bubbletea reads from parts, which arrive one by one.
func pressed(t *testing.T, parts ...string) (keys []key) {
	t.Helper()
	in, out := io.Pipe()
	program := tea.NewProgram(presses{&keys, last}, tea.WithContext(context.Background()), tea.WithInput(in),
		tea.WithOutput(&bytes.Buffer{}), tea.WithoutSignalHandler(), tea.WithoutRenderer())
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		for _, p := range append(parts, ends, last) {
			_, _ = io.WriteString(out, p)
		}
	}()
	if _, err := program.Run(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	<-wrote
	return keys
}

func TestKeys(t *testing.T) {
	for name, tt := range map[string]struct {
		sent []string
		want []key
	}{
		"text":                {[]string{"aé"}, []key{{keyText, "a"}, {keyText, "é"}}},
		"a capital":           {[]string{"A "}, []key{{keyText, "A"}, {keyText, " "}}},
		"control keys":        {[]string{"\x03\x04\r\n\t\x7f"}, []key{{kind: keyInterrupt}, {kind: keyEndOfInput}, {kind: keyEnter}, {kind: keyNewline}, {kind: keyTab}, {kind: keyBackspace}}},
		"arrows":              {[]string{"\x1b[A\x1bOB\x1b[1;5C"}, []key{{kind: keyUp}, {kind: keyDown}, {kind: keyWordRight}}},
		"shift-tab":           {[]string{"\x1b[Z\t"}, []key{{kind: keyPlan}, {kind: keyTab}}},
		"page keys":           {[]string{"\x1b[5~\x1b[6~"}, []key{{kind: keyPageUp}, {kind: keyPageDown}}},
		"alt-enter":           {[]string{"\x1b\r"}, []key{{kind: keyNewline}}},
		"shift-enter":         {[]string{"\x1b[13;2u", "\x1b[27;2;13~"}, []key{{kind: keyNewline}, {kind: keyNewline}}},
		"a key release":       {[]string{"\x1b[97;1:3u"}, nil},
		"a paste":             {[]string{"\x1b[200~one\r\ntwo\rthree\x1b[201~x"}, []key{{keyPaste, "one\ntwo\nthree"}, {keyText, "x"}}},
		"a paste in pieces":   {[]string{"a\x1b[200~o", "ne\x1b[201~", "\r"}, []key{{keyText, "a"}, {keyPaste, "one"}, {kind: keyEnter}}},
		"an enter in a paste": {[]string{"\x1b[200~rm -rf x\r\x1b[201~"}, []key{{keyPaste, "rm -rf x\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pressed(t, tt.sent...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestLongPasteIsBounded(t *testing.T) {
	if got := pasteText(strings.Repeat("x", mostPaste+1)); len(got) != mostPaste {
		t.Errorf("%d bytes", len(got))
	}
}
