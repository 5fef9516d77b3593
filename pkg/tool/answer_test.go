package tool_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"podd/pkg/tool"
)

const risks = `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/risk.json",
"type":"object","properties":{"risk":{"type":"string","enum":["low","high"]},"lines":{"type":"array","items":{"$ref":"#/definitions/a~1line"}},"why":{"anyOf":[{"type":"null"},{"type":"string","default":1}]}},
"required":["risk"],"additionalProperties":false,"definitions":{"a/line":{"type":"integer","minimum":1}}}`

func TestAnswersAreHeldToTheirSchema(t *testing.T) {
	s, err := tool.ParseAnswerSchema(risks)
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		` {"risk": "low", "lines": [1, 2]}` + "\n": "",
		`{"risk":"high","why":null}`:               "",
		`{"risk":"middle"}`:                        "/properties/risk: enum: middle does not equal any of: [low high]",
		`{"lines":[1]}`:                            `required: missing properties: ["risk"]`,
		`{"risk":"low","lines":[0]}`:               "/definitions/a~1line: minimum: 0/1 is less than 1",
		`{"risk":"low","lines":[1.5]}`:             "integer",
		`{"risk":"low","why":1}`:                   "anyOf",
		`{"risk":"low","more":1}`:                  "more",
		`{"risk":"low","risk":"high"}`:             "the field risk is given twice",
		`{"risk":"low"} {"risk":"low"}`:            "the answer is not valid JSON: invalid character '{' after top-level value (at byte 16)",
		`["low"]`:                                  "object",
		"null":                                     "object",
		`{"risk":1e999}`:                           "a number that is too large",
		"The risk is low.":                         "the answer is not valid JSON",
		"```json\n{\"risk\":\"low\"}\n```":         "the answer is in a code fence",
		"":                                         "the answer is not valid JSON: unexpected end of JSON input",
		strings.Repeat("[", 1<<16):                 "the answer is not valid JSON",
		strings.Repeat("[", 100) + strings.Repeat("]", 100): "the answer is nested deeper than 64 levels",
	} {
		err := s.Check(answer)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "validating root")) {
			t.Errorf("%.60q gives %v, want %q", answer, err, want)
		}
	}
}

func TestBadAnswerSchemasAreRefused(t *testing.T) {
	twice := func(of string) string {
		return `{"allOf":[{"$ref":"#/$defs/` + of + `"},{"$ref":"#/$defs/` + of + `"}]}`
	}
	var doubled []string
	for i := range 40 {
		doubled = append(doubled, fmt.Sprintf(`"%d":%s`, i, twice(strconv.Itoa(i+1))))
	}
	for schema, want := range map[string]string{
		"":                                      "the schema is not valid JSON",
		"{":                                     "the schema is not valid JSON",
		"no":                                    "the schema is not valid JSON",
		"true":                                  "must be a JSON object, not true",
		"[]":                                    "must be a JSON object, not an array",
		"1":                                     "must be a JSON object, not the number 1",
		`{"type":"strnig"}`:                     `it has the type "strnig"`,
		`{"properties":{"a":{"type":["int"]}}}`: `/properties/a has the type "int"`,
		`{"type":1}`:                            "not a JSON Schema",
		`{"properties":[]}`:                     "not a JSON Schema",
		`{"properties":{"a":null}}`:             "not a JSON Schema",
		`{"pattern":"("}`:                       "error parsing regexp",
		`{"type":"object","type":"array"}`:      "the field type is given twice",
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`: "draft-07 and draft 2020-12",
		`{"$ref":"https://example.com/schema.json"}`:            `it refers to "https://example.com/schema.json", which is not a part of it`,
		`{"$ref":"other.json#/a"}`:                              "not a part of it",
		`{"$ref":"#/$defs/gone"}`:                               "not a part of it",
		`{"$ref":"#"}`:                                          "$ref refers to itself for the same value",
		`{"$defs":{"a":{"anyOf":[{"type":"null"},{"not":{"$ref":"#/$defs/a"}}]}}}`:                         "$ref refers to itself for the same value",
		`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`:                                                        "$dynamicRef",
		`{"$ref":"#/$defs/a","$defs":{"a":{"$id":"https://example.com/b","$ref":"#"}}}`:                    "$id",
		`{"$ref":"#/$defs/0","$defs":{` + strings.Join(doubled, ",") + `,"` + "40" + `":{"type":"null"}}}`: "too many alternatives",
		`{"description":"` + strings.Repeat("a", 32<<10) + `"}`:                                            "the limit is 32768: shorten it",
	} {
		if _, err := tool.ParseAnswerSchema(schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gives %v, want %q", schema, err, want)
		}
	}
}

func TestAnswerSchemasMayRecurAndNameFieldsFreely(t *testing.T) {
	for schema, answers := range map[string][2]string{
		`{"const":{"type":"own"}}`: {`{"type":"own"}`, `{}`},
		`{"properties":{"type":{"type":"string"},"$ref":{"type":"null"}},"dependentRequired":{"type":["$ref"]}}`:       {`{"type":"a","$ref":null}`, `{"type":"a"}`},
		`{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`:                            {`{"next":{"next":{}}}`, `{"next":{"last":{}}}`},
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/$defs/a"}}]}}}`: {`[[null],[]]`, `[[1]]`},
		// An empty schema holds an answer to JSON alone.
		`{}`: {`1`, `one`},
	} {
		s, err := tool.ParseAnswerSchema(schema)
		if err != nil {
			t.Errorf("%s is refused: %v", schema, err)
			continue
		}
		if err := s.Check(answers[0]); err != nil {
			t.Errorf("%s refuses %s: %v", schema, answers[0], err)
		}
		if s.Check(answers[1]) == nil {
			t.Errorf("%s accepts %s", schema, answers[1])
		}
	}
}

// No schema and no answer ends the process: a loop without end would.
func FuzzAnswerSchema(f *testing.F) {
	f.Add(risks, `{"risk":"low"}`)
	f.Add(`{"$ref":"#"}`, `1`)
	f.Add(`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"if":{"$ref":"#"}}}}`, `{}`)
	f.Add(`{"items":[{"$ref":"#/items/0"}],"dependencies":{"a":["b"],"c":{"$ref":"#/dependencies/c"}}}`, `[null]`)
	f.Add(`{"$anchor":"a","properties":{"b":{"$ref":"#a"}}}`, `{"b":1}`)
	f.Add(`{"propertyNames":{"$ref":"#"},"unevaluatedItems":false,"contains":true,"uniqueItems":true}`, `[1,1.0]`)
	f.Fuzz(func(t *testing.T, schema, answer string) {
		if s, err := tool.ParseAnswerSchema(schema); err == nil {
			_ = s.Check(answer)
		}
	})
}
