package crash

import (
	"encoding/json"
	"strings"

	poddv1 "podd/proto/podd/v1"
)

// letters compares the calls that sent letters with the logs: a letter is in its sender's log and in its recipient's once,
// if the result says that it is stored or on its way. Whether a turn took it, notes find.
func (i *inspection) letters(all []kin) {
	sent, got := make(map[string]int), make(map[string]int)
	for _, k := range all {
		for _, e := range k.log[min(int(k.from), len(k.log)):] {
			k.countLetter(e, sent, got)
		}
	}
	for _, k := range all {
		for id, s := range k.calls {
			if i.model.made(id).verb != "send" || s.seq <= k.from || s.result == nil {
				continue
			}
			i.letter(k, id, s.result, sent[id], got[id])
		}
	}
}

// letter compares the result of the call of a letter with how often the logs have it.
func (i *inspection) letter(k kin, id string, result *poddv1.ToolResult, sent, got int) {
	summary := result.GetSummary()
	away := strings.Contains(summary, ": on its way; ")
	stored := !result.GetIsError() && (away || strings.HasSuffix(summary, ": stored"))
	i.tally.act("letter", stored)
	if away {
		i.tally.act("letter on its way", stored)
	}
	switch {
	case got > 1 || sent > 1:
		i.tally.Repeated.add("%s: the letter of call %s was sent %d times and stored %d times", k.pod, id, sent, got)
	case stored && got == 0:
		i.tally.Lost.add("%s: the letter of call %s is in no log, and its result is: %s", k.pod, id, summary)
	case !stored && got > 0:
		i.tally.Other.add("%s: the letter of call %s was stored, and its result is: %s", k.pod, id, summary)
	case !stored && sent > 0:
		i.tally.Lost.add("%s: the letter of call %s was written and not stored: %s", k.pod, id, summary)
	}
}

// countLetter counts an entry that is a letter of a pod, by the call that its text names.
func (k kin) countLetter(e *poddv1.Entry, sent, got map[string]int) {
	w := e.GetWing()
	var l struct{ From, To, Beginning string }
	if w.GetWing() != "letters" || json.Unmarshal([]byte(w.GetData()), &l) != nil {
		return
	}
	id, ofCall := strings.CutPrefix(l.Beginning, letterText)
	switch {
	case !ofCall:
	case w.GetName() == "sent" && l.From == k.GetId():
		sent[id]++
	case w.GetName() == "letter" && l.To == k.GetId():
		got[id]++
	}
}

// letterText begins the text of a letter, which ends with the call that sends it.
const letterText = "a letter of call "
