package briefing

import (
	"fmt"
	"strings"
	"time"
)

// State is what changes from turn to turn, as the model reads it: the day and the zone of
// a time, a repository's current commit, and the running jobs.
func State(now time.Time, head Head, jobs []string) string {
	zone, _ := now.Zone()
	day := now.Format("Monday, 2 January 2006")
	text := fmt.Sprintf("Today is %s, time zone %s.\n", day, now.Format("UTC-07:00"))
	if zone != "" && zone[0] != '+' && zone[0] != '-' {
		text = fmt.Sprintf("Today is %s, time zone %s (%s).\n", day, zone, now.Format("UTC-07:00"))
	}
	text += head.text()
	if len(jobs) > 0 {
		text += fmt.Sprintf("Running jobs: %s.\n", strings.Join(jobs, ", "))
	}
	return text
}

// text is one line; empty without a repository.
func (h Head) text() string {
	commit := "no commit yet"
	if h.Commit != "" {
		commit = "commit " + h.Commit[:12]
	}
	switch {
	case h.Branch != "":
		return fmt.Sprintf("git: branch %s, %s.\n", shown(h.Branch, maxBranch), commit)
	case h.Commit != "":
		return fmt.Sprintf("git: no branch, HEAD is %s.\n", commit)
	}
	return ""
}
