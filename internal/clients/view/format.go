package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
)

// Count is a number with separated thousands: 1,234.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Duration is a length of time in two units at most: 3 ms, 1.2 s, 2m05s, 3h07m, 4d02h.
func Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d.%d s", int(d.Seconds()), d.Milliseconds()%1000/100)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// utcTime matches a time as podd writes it into sentences.
var utcTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)
})

// LocalTimes converts the times in a sentence of podd to the reader's time zone.
func LocalTimes(text string) string {
	return utcTime().ReplaceAllStringFunc(text, func(at string) string {
		t, err := time.Parse(time.DateTime+"Z", at)
		if err != nil {
			return at
		}
		return t.Local().Format(time.DateTime)
	})
}

// Tokens is what was billed: 1,234 tokens in (800 cached), 56 out.
func Tokens(u item.Usage) string {
	cached := ""
	if u.CachedInput > 0 {
		cached = fmt.Sprintf(" (%s cached)", Count(u.CachedInput))
	}
	return fmt.Sprintf("%s tokens in%s, %s out", Count(u.Input), cached, Count(u.Output))
}

// counted is "1 step" or "2 steps"; many is the plural where it is not one with an s.
func counted(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return Count(int64(n)) + " " + many[0]
	}
	return Count(int64(n)) + " " + one + "s"
}

// ending is the line that a turn ends with, without the cause.
func ending(turn int64, e item.TurnEnded) string {
	line := fmt.Sprintf("turn %d %s", turn, outcome(e.Outcome))
	if e.Steps == 0 {
		return line
	}
	line += ": " + counted(e.Steps, "step")
	if e.Usage.Input == 0 && e.Usage.Output == 0 {
		return line + ", tokens not reported"
	}
	line += ", " + Tokens(e.Usage)
	if e.Cost > 0 {
		line += fmt.Sprintf(", $%.4f", e.Cost)
	}
	return line
}

// outcome names how a turn ended in a sentence.
func outcome(o item.Outcome) string {
	switch o {
	case item.OutcomeLimit:
		return "stopped by a limit"
	case "":
		return "ended in a way that this version does not know"
	}
	return string(o)
}

// oneLine is text in one line: its lines separated by a bar.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", " | ")
}
