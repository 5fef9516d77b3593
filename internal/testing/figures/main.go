// Command figures measures again what pages say was measured, and fails where a page says something better.
//
// A comment below a figure, in the same paragraph or directly below its table, says how it was measured:
//
//	<!-- figure: 49 | at most +50 % | 60 s | PODD_MOVES=100 go test -v -run TestHandOverTime ./integrations/postgres | p99 (\d+) -->
//
// It has the figure, what it bounds (at most, at least or exactly, with a tolerance for what differs from run to run), how long the command takes,
// the command, and a regular expression whose group finds the number in the output. Of several numbers the worst counts.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// figure is a number on a page, and how to measure it.
type figure struct {
	page string
	line int
	// number is as the page has it, value what it is.
	number string
	value  float64
	// bound is one of the keys of bounds, tolerance what a measurement may be worse, as a part of the value.
	bound     string
	tolerance float64
	takes     time.Duration
	command   string
	finds     *regexp.Regexp
}

// bounds say whether a measured number is worse than a page's.
var bounds = map[string]func(measured, said, tolerance float64) bool{
	"at most":  func(measured, said, tolerance float64) bool { return measured > said*(1+tolerance) },
	"at least": func(measured, said, tolerance float64) bool { return measured < said*(1-tolerance) },
	"exactly":  func(measured, said, _ float64) bool { return measured != said },
}

var (
	comment   = regexp.MustCompile(`<!-- figure: (.*?) -->`)
	tolerance = regexp.MustCompile(`^(at most|at least|exactly)(?: [+-](\d+) %)?$`)
)

// all finds the figures of all pages below a directory.
func all(root string) (found []figure, err error) {
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "bin" || d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		of, err := figures(path)
		found = append(found, of...)
		return err
	})
	return found, err
}

// figures finds those of one page.
func figures(path string) (found []figure, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block := ""
	for i, line := range strings.Split(string(text), "\n") {
		block += " " + comment.ReplaceAllString(line, "")
		if line == "" {
			block = ""
		}
		for _, m := range comment.FindAllStringSubmatch(line, -1) {
			f, err := parse(m[1])
			f.page, f.line = path, i+1
			if err == nil && !f.isIn(block) {
				err = fmt.Errorf("the text has no %s", f.number)
			}
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
			found = append(found, f)
		}
	}
	return found, nil
}

// isIn says that a text has the number, not as a part of another.
func (f *figure) isIn(text string) bool {
	return regexp.MustCompile(`(^|[^\d.,])` + regexp.QuoteMeta(f.number) + `($|[^\d.,]|[.,]($|\D))`).MatchString(text)
}

func parse(text string) (f figure, err error) {
	parts := strings.SplitN(text, " | ", 5)
	if len(parts) != 5 {
		return f, fmt.Errorf("%q is not: figure | bound | seconds | command | regular expression", text)
	}
	f.number, f.command = parts[0], parts[3]
	if f.value, err = value(f.number); err != nil {
		return f, err
	}
	bound := tolerance.FindStringSubmatch(parts[1])
	if bound == nil {
		return f, fmt.Errorf("%q is not at most, at least or exactly, with a tolerance such as +20 %%", parts[1])
	}
	percent, _ := strconv.ParseFloat(cmp.Or(bound[2], "0"), 64)
	f.bound, f.tolerance = bound[1], percent/100
	if f.takes, err = time.ParseDuration(strings.ReplaceAll(parts[2], " ", "")); err != nil {
		return f, err
	}
	if f.finds, err = regexp.Compile(parts[4]); err == nil && f.finds.NumSubexp() != 1 {
		err = fmt.Errorf("%q has not one group", parts[4])
	}
	return f, err
}

func value(number string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
}

// wrong says what is wrong with a figure by the output of its command.
func (f *figure) wrong(output string) string {
	found := f.finds.FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return "the command prints no " + f.finds.String()
	}
	for _, m := range found {
		measured, err := value(m[1])
		if err != nil {
			return err.Error()
		}
		if bounds[f.bound](measured, f.value, f.tolerance) {
			return fmt.Sprintf("the page says %s, and %s is measured", f.number, m[1])
		}
	}
	return ""
}

func run(out io.Writer, root string, budget time.Duration) (ok bool, err error) {
	found, err := all(root)
	if err != nil {
		return false, err
	}
	type result struct {
		output string
		err    error
	}
	ok, done := true, map[string]result{}
	for _, f := range found {
		r, known := done[f.command]
		if !known {
			if f.takes > budget {
				fmt.Fprintf(out, "left out, %v: %s\n", f.takes, f.command)
				continue
			}
			budget -= f.takes
			c := exec.Command("bash", "-c", f.command)
			c.Dir = root
			text, err := c.CombinedOutput()
			r = result{string(text), err}
			done[f.command] = r
		}
		wrong := f.wrong(r.output)
		if r.err != nil {
			wrong = fmt.Sprintf("%s: %v\n%s", f.command, r.err, r.output)
		}
		ok = ok && wrong == ""
		fmt.Fprintf(out, "%s:%d: %s %s: %s\n", f.page, f.line, f.bound, f.number, cmp.Or(wrong, "yes"))
	}
	return ok, nil
}

func main() {
	budget := flag.Duration("budget", 5*time.Minute, "how long all commands may take, by what their comments say")
	flag.Parse()
	ok, err := run(os.Stdout, ".", *budget)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}
