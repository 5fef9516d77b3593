package exchange

import (
	"math"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"podd/pkg/llm"
)

// waitRule is a header that says how long to wait; see quirks.toml.
type waitRule struct {
	// Header has a wait, whose number has a unit.
	Header string   `toml:"header"`
	Unit   duration `toml:"unit"`
	// Reset matches the names of headers that say when a limit resets, in lower case.
	Reset string `toml:"reset"`
	From  string `toml:"from"`
}

// duration is a time.Duration that TOML has as text.
type duration time.Duration

// UnmarshalText reads a duration such as 1ms.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

// waitWords matches the words with which endpoints ask to wait: "Please try again in
// 6m0s", "Please retry in 34.07s", "retry after 26 seconds".
var waitWords = regexp.MustCompile(`(?i)(?:try again|retry|wait) (?:in |after |for )?((?:[0-9][0-9.]* ?[a-z]+ ?)+)`)

// waitPart is a part of a wait in words.
var waitPart = regexp.MustCompile(`([0-9][0-9.]*) ?([a-z]+) ?`)

// waitUnits are the units of waits in words, by their beginnings.
var waitUnits = []struct {
	names string
	unit  time.Duration
}{
	{" ms msec millisecond milliseconds ", time.Millisecond},
	{" s sec secs second seconds ", time.Second},
	{" m min mins minute minutes ", time.Minute},
	{" h hr hrs hour hours ", time.Hour},
	{" d day days ", 24 * time.Hour},
}

// hint sets how long the endpoint asks to wait: the longest plausible wait in its headers
// and text. It includes the headers of a provider that a router passes on.
func (s *said) hint(h http.Header, now time.Time) {
	take := func(d time.Duration) {
		if d <= llm.MaxRetryAfter {
			s.wait = max(s.wait, d)
		}
	}
	passedOn := http.Header{}
	for name, value := range s.headers.Map() {
		passedOn.Set(name, value.String())
	}
	for _, from := range []http.Header{h, passedOn} {
		for _, w := range builtin().Waits {
			take(waitOf(from.Get(w.Header), time.Duration(w.Unit), now))
		}
		for name := range from {
			if left := resets(name); left != "" && (from.Get(left) == "" || waitOf(from.Get(left), time.Second, now) == 0) {
				take(waitOf(from.Get(name), time.Second, now))
			}
		}
	}
	for _, value := range s.waits {
		take(waitOf(value, time.Second, now))
	}
	for _, m := range waitWords.FindAllStringSubmatch(s.message, 16) {
		take(waitInWords(m[1]))
	}
}

// resets maps a header that says when a limit resets to the one that says how much of it
// remains: the endpoint does not wait for a limit that is not used up.
func resets(name string) (left string) {
	lower := strings.ToLower(name)
	for _, w := range builtin().Waits {
		if fits, _ := path.Match(w.Reset, lower); fits && w.Reset != "" {
			return strings.Replace(lower, "reset", "remaining", 1)
		}
	}
	return ""
}

// waitOf reads a wait: a number of units, a duration such as 6m0s, or a time of the clock
// as a date or in seconds or milliseconds of Unix time. It is 0 for anything else.
func waitOf(value string, unit time.Duration, now time.Time) time.Duration {
	const seconds, milliseconds = 1e9, 1e12
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case n >= milliseconds:
			n, unit = n-float64(now.UnixMilli()), time.Millisecond
		case n >= seconds:
			n, unit = n-float64(now.UnixMilli())/1000, time.Second
		}
		return scaled(n, unit)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return max(d, 0)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		at, err = time.Parse(time.RFC3339, value)
	}
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// waitInWords reads a wait such as "6m0s" or "5 minutes".
func waitInWords(text string) (d time.Duration) {
	for _, m := range waitPart.FindAllStringSubmatch(strings.ToLower(text), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		unit := unitOf(m[2])
		if err != nil || unit == 0 || d > llm.MaxRetryAfter {
			break
		}
		d += scaled(n, unit)
	}
	return d
}

func unitOf(name string) time.Duration {
	for _, u := range waitUnits {
		if strings.Contains(u.names, " "+name+" ") {
			return u.unit
		}
	}
	return 0
}

// scaled is n units; 0 for a negative number, and far above any plausible wait for a huge
// one.
func scaled(n float64, unit time.Duration) time.Duration {
	switch d := n * float64(unit); {
	case !(d > 0):
		return 0
	case d > float64(llm.MaxRetryAfter):
		return math.MaxInt64 / 64
	default:
		return time.Duration(d)
	}
}
