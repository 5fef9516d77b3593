package setup

import (
	"context"
	"errors"
	"strings"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// patience bounds the wait for the first answer: a server on this machine may load its model first.
const patience = 2 * time.Minute

// List asks the endpoint for its models, which become the choice's.
func (c *Choice) List(ctx context.Context) error {
	set, err := c.open()
	if err != nil {
		return err
	}
	defer set.Close(nil)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	offers, err := set.Offers(ctx, item.DefaultEndpoint)
	if err != nil {
		return err
	}
	c.Models = nil
	for _, o := range offers {
		c.Models = append(c.Models, o.Model)
	}
	return nil
}

// Try sends a model one short request, and returns how long it took to answer.
func (c Choice) Try(ctx context.Context, model string) (time.Duration, error) {
	set, err := c.open()
	if err != nil {
		return 0, err
	}
	defer set.Close(nil)
	client := set.Router(func(m llm.Model) llm.Model { return m }).Endpoints[item.DefaultEndpoint].Model
	body, err := client.Body(llm.Request{
		Setup: item.Setup{Model: model, API: client.API(), Base: "Answer with one word."},
		Items: []item.Item{item.UserMessage{Text: "Say ready."}},
	})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("no answer within two minutes"))
	defer cancel()
	began := time.Now()
	for event, err := range client.Stream(ctx, body) {
		if err != nil {
			return 0, err
		}
		if _, ended := event.(llm.End); ended {
			return time.Since(began), nil
		}
	}
	return 0, errors.New("the endpoint ended its answer before it was whole")
}

// redact takes the key out of a text.
func (c Choice) redact(text string) string {
	if c.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, c.Key, "[redacted]")
}
