package skills

import "strings"

// Listed is a skill as a list has it.
type Listed struct {
	Name string
	// Line is all that is sent of it.
	Line string
}

// Split takes the list of skills out of what is sent: the rest, and the skills.
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
