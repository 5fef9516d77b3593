package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxAnswerSchema bounds the schema of an answer, in bytes.
const MaxAnswerSchema = 32 << 10

// AnswerSchema says what a final answer must be.
type AnswerSchema struct{ resolved *jsonschema.Resolved }

// ParseAnswerSchema reads a JSON Schema, an object of at most MaxAnswerSchema bytes that
// refers to nothing outside itself. An error says in one sentence what is wrong.
func ParseAnswerSchema(text string) (*AnswerSchema, error) {
	if len(text) > MaxAnswerSchema {
		return nil, fmt.Errorf("the schema has %d bytes; the limit is %d: shorten it", len(text), MaxAnswerSchema)
	}
	value, err := parseStrict("the schema is", text)
	if err != nil {
		return nil, err
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, fmt.Errorf("the schema must be a JSON object, not %s", describe(value))
	}
	resolved, err := resolve(text)
	if err != nil {
		return nil, fmt.Errorf("this is not a JSON Schema that podd can use: %w", err)
	}
	return &AnswerSchema{resolved}, nil
}

// Check says what is wrong with an answer.
func (s *AnswerSchema) Check(answer string) error {
	answer = strings.TrimSpace(answer)
	if strings.HasPrefix(answer, "```") {
		// Programs read the answer as it is.
		return errors.New("the answer is in a code fence")
	}
	if _, err := parseStrict("the answer is", answer); err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		return fmt.Errorf("the answer has a number that is too large: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return errors.New(mismatch(err))
	}
	return nil
}

// mismatch says what of a value does not match its schema, and where in the schema that is.
func mismatch(err error) string {
	text, at := err.Error(), ""
	for strings.HasPrefix(text, "validating ") {
		where, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok {
			break
		}
		text, at = rest, where
	}
	if strings.HasPrefix(at, "/") {
		text = at + ": " + text
	}
	return strings.ReplaceAll(text, "\n", "; ")
}
