package skills

import "strings"

// Listed is a skill in a list.
type Listed struct {
	Name string
	// Line is all that requests have of it.
	Line string
}

// Split removes the list of skills from the instructions: it returns the rest, and the
// skills.
func Split(text string) (rest string, listed []Listed) {
	before, list, found := strings.Cut(text, listHeading)
	if !found {
		return text, nil
	}
	rest = before + listHeading
	for line := range strings.Lines(list) {
		name, isSkill := strings.CutPrefix(line, "- ")
		name, _, named := strings.Cut(name, ": ")
		if !isSkill || !named || !nameForm.MatchString(name) {
			rest += line
			continue
		}
		listed = append(listed, Listed{Name: name, Line: line})
	}
	return rest, listed
}
