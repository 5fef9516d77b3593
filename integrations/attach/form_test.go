//go:build integrations

package attach

import (
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// asksForms is a model that asks two questions, of which the second takes several options, and is done.
func asksForms() scripted.Handler {
	ask := scripted.Call{Name: "ask_user", Arguments: `{"questions":[{"question":"Which?","header":"Database","options":[{"label":"SQLite","description":"one \u001b[31mfile"},{"label":"Postgres"}]},
		{"question":"Where?","header":"Place","options":[{"label":"dev"},{"label":"staging"},{"label":"production"}],"multiple":true}]}`}
	return scripted.Answers(scripted.Say(ask), scripted.Say(scripted.Text("Done.")))
}

// A form is answered question by question: the arrows move between the options, Space marks them, Enter takes them.
func TestForm(t *testing.T) {
	w := world(t, asksForms())
	s := newScreen(t, w, 80, 24, nil, "attach", "p")
	s.await("── p · idle")
	s.typed("go")
	s.keys("Enter")
	s.await("Question 1, Database: Which?", `1. SQLite: one \x1b[31mfile`, "2. Postgres", "Answer to question 1 of 2:")
	s.keys("Down", "Down")
	s.await("› 2. Postgres")
	s.keys("Enter")
	s.await("Question 2, Place: Where?", "Answer to question 2 of 2:")
	s.keys("Up")
	s.await("› [ ] 3. production")
	s.keys("Space")
	s.await("› [x] 3. production")
	s.keys("Down")
	s.await("› [ ] 1. dev")
	s.keys("Space")
	s.await("› [x] 1. dev")
	s.keys("Enter")
	s.await("Done.", "── turn 1 finished")
	answered(t, w.Podctl("tail", "p", "--after", "0", "-o", "json"), "dev, production")
}

// submit -f asks the same questions, and reads the numbers of options.
func TestFormOfSubmit(t *testing.T) {
	w := world(t, asksForms())
	s := newScreen(t, w, 80, 24, nil, "submit", "-f", "-p", "p", "go")
	s.await("Question 1, Database: Which?", `1. SQLite: one \x1b[31mfile`, "2. Postgres", "Answer to question 1 of 2:")
	s.typed("2")
	s.keys("Enter")
	s.await("Answer to question 2 of 2:")
	s.typed("3 1")
	s.keys("Enter")
	s.await("Done.", "turn 1 finished", "shell>")
	s.restored()
	answered(t, w.Podctl("tail", "p", "--after", "0", "-o", "json"), "production, dev")
}

// answered fails unless the model is told these places.
func answered(t *testing.T, log, places string) {
	t.Helper()
	for _, want := range []string{`Answer: Postgres\n`, `Answer: ` + places} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}
