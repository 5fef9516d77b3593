package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"podd/internal/sanitize"
)

// Dialog asks a person at a terminal.
type Dialog struct {
	In  *bufio.Reader
	Out io.Writer
	// Secret reads a line that does not show.
	Secret func() (string, error)
}

// ErrLeft says that the person ended the dialog; nothing was written.
var ErrLeft = errors.New("nothing was written")

// Ask shows a question with the answer that Enter gives, and returns the answer. The end of the
// input is ErrLeft.
func (d Dialog) Ask(question, enter string) (string, error) {
	if enter != "" {
		question += " [" + sanitize.Line(enter) + "]"
	}
	fmt.Fprint(d.Out, question+": ")
	line, err := d.In.ReadString('\n')
	if err != nil && line == "" {
		fmt.Fprintln(d.Out)
		return "", ErrLeft
	}
	if line = strings.TrimSpace(line); line == "" {
		return enter, nil
	}
	return line, nil
}

// Yes asks a question that Enter affirms.
func (d Dialog) Yes(question string) (bool, error) {
	for {
		answer, err := d.Ask(question, "Y/n")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y/n", "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		fmt.Fprintln(d.Out, "Type y or n.")
	}
}

// pick asks for one of several things by number, or by name where names is true.
func (d Dialog) pick(question string, things []string, names bool) (int, string, error) {
	for i, thing := range things {
		fmt.Fprintf(d.Out, "  %d  %s\n", i+1, sanitize.Line(thing))
	}
	for {
		answer, err := d.Ask(question, "1")
		if err != nil {
			return 0, "", err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(things) {
			return n - 1, things[n-1], nil
		}
		if names {
			return -1, answer, nil
		}
		fmt.Fprintf(d.Out, "Type a number from 1 to %d.\n", len(things))
	}
}

// Choose leads to an endpoint and a model that answered one request.
func (d Dialog) Choose(ctx context.Context, found []Choice) (Choice, string, error) {
	for {
		c, err := d.endpoint(found)
		if err != nil {
			return c, "", err
		}
		if len(c.Models) == 0 {
			if err := c.List(ctx); err != nil {
				fmt.Fprintf(d.Out, "%s lists no models: %s\n", sanitize.Line(c.address()), sanitize.Line(c.redact(err.Error())))
			}
		}
		model, err := d.model(c)
		if err != nil {
			return c, "", err
		}
		fmt.Fprintf(d.Out, "Trying %s ...\n", sanitize.Line(model))
		took, err := c.Try(ctx, model)
		if err == nil {
			fmt.Fprintf(d.Out, "%s answered in %s.\n\n", sanitize.Line(model), took.Round(100*time.Millisecond))
			return c, model, nil
		}
		if ctx.Err() != nil {
			return c, "", ErrLeft
		}
		fmt.Fprintf(d.Out, "That did not work: %s\n\n", sanitize.Line(c.redact(err.Error())))
	}
}

// endpoint asks for one of those that were found, or for another one.
func (d Dialog) endpoint(found []Choice) (Choice, error) {
	fmt.Fprintln(d.Out, "Which model endpoint shall podd use?")
	var things []string
	for _, c := range found {
		things = append(things, c.String())
	}
	n, _, err := d.pick("Endpoint", append(things, "another one"), false)
	if err != nil {
		return Choice{}, err
	}
	if n < len(found) {
		return found[n], nil
	}
	c := Choice{ID: custom, Name: "endpoint"}
	for c.BaseURL == "" {
		if c.BaseURL, err = d.Ask("Its address with the version, such as https://api.example.org/v1", ""); err != nil {
			return c, err
		}
	}
	fmt.Fprint(d.Out, "Its key (it does not show; Enter for none): ")
	c.Key, err = d.Secret()
	fmt.Fprintln(d.Out)
	if errors.Is(err, io.EOF) {
		err = ErrLeft
	}
	return c, err
}

// mostShown is how many models a person sees; they may type others.
const mostShown = 20

// model asks for a model of the endpoint.
func (d Dialog) model(c Choice) (model string, err error) {
	for model == "" {
		if len(c.Models) == 0 {
			model, err = d.Ask("The name of a model", "")
		} else {
			if more := len(c.Models) - mostShown; more > 0 {
				fmt.Fprintf(d.Out, "The endpoint lists %d more models; type the name of another one if you want it.\n", more)
			}
			_, model, err = d.pick("Model", c.Models[:min(len(c.Models), mostShown)], true)
		}
		if err != nil {
			return "", err
		}
	}
	return model, nil
}

// String is one line for people.
func (c Choice) String() string {
	switch {
	case c.Variable != "":
		return c.Name + ", with the key in " + c.Variable + " (" + c.address() + ")"
	case len(c.Models) == 1:
		return c.Name + " on this machine, with " + c.Models[0] + " (" + c.address() + ")"
	case len(c.Models) > 1:
		return fmt.Sprintf("%s on this machine, with %d models (%s)", c.Name, len(c.Models), c.address())
	}
	return c.Name + " (" + c.address() + ")"
}
