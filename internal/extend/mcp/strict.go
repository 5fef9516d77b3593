package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// members are those of an object; nil for anything else.
type members map[string]json.RawMessage

func membersOf(text json.RawMessage) (m members) {
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}

func (m members) text() json.RawMessage {
	// What was decoded can be encoded.
	text, _ := json.Marshal(m)
	return text
}

// The types of results: a whole one, and one that asks for input first.
const (
	resultComplete = "complete"
	resultAsks     = "input_required"
)

// strict is a result in a form that the library reads. One of an unknown type is an error.
func (c *conversation) strict(method string, result json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	if len(result) == 0 || string(result) == "null" {
		result = json.RawMessage("{}")
	}
	switch kind := plain(membersOf(result)["resultType"]); kind {
	case "", "null", resultComplete:
		return c.complete(method, result), nil
	case resultAsks:
		return asking(result), nil
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the answer is of the type %s, which podd does not know", word(kind))}
	}
}

// asking is a result that asks for input, with the order of the fields of its forms.
func asking(result json.RawMessage) json.RawMessage {
	m := membersOf(result)
	forms := membersOf(m["inputRequests"])
	for name, one := range forms {
		if f := membersOf(one); f["params"] != nil {
			f["params"] = markOrder(f["params"])
			forms[name] = f.text()
		}
	}
	if forms != nil {
		m["inputRequests"] = forms.text()
	}
	return m.text()
}

// complete is a whole result in a form that the library reads.
func (c *conversation) complete(method string, result json.RawMessage) json.RawMessage {
	switch method {
	case "server/discover":
		return greeting[sdk.DiscoverResult](result)
	case "initialize":
		result = greeting[sdk.InitializeResult](result)
		c.agree(plain(membersOf(result)["protocolVersion"]))
	case "tools/call":
		return called(result)
	case "tools/list":
		return markTasks(page[sdk.Tool, sdk.ListToolsResult](result, "tools"))
	case "resources/list":
		return page[sdk.Resource, sdk.ListResourcesResult](result, "resources")
	case "resources/templates/list":
		return page[sdk.ResourceTemplate, sdk.ListResourceTemplatesResult](result, "resourceTemplates")
	case "resources/read":
		return whole[sdk.ReadResourceResult](result, "contents", resourcePart)
	case "prompts/list":
		return page[sdk.Prompt, sdk.ListPromptsResult](result, "prompts")
	case "prompts/get":
		return whole[sdk.GetPromptResult](result, "messages", promptPart)
	}
	return result
}

func readable[T any](text json.RawMessage) bool { return json.Unmarshal(text, new(T)) == nil }

func quote(s string) json.RawMessage {
	text, _ := json.Marshal(s)
	return text
}

// keep drops the members of an object that do not have the form of T's.
func keep[T any](text json.RawMessage) json.RawMessage {
	if readable[T](text) {
		return text
	}
	m := membersOf(text)
	maps.DeleteFunc(m, func(name string, value json.RawMessage) bool { return !readable[T](members{name: value}.text()) })
	return m.text()
}

// greeting is the answer to the first request, of the form R.
func greeting[R any](text json.RawMessage) json.RawMessage {
	m := membersOf(text)
	can := membersOf(m["capabilities"])
	if can == nil || readable[R](text) {
		return keep[R](text)
	}
	for name, value := range can {
		if string(value) == "true" || string(value) == "[]" {
			can[name] = json.RawMessage("{}")
		}
	}
	m["capabilities"] = keep[sdk.ServerCapabilities](can.text())
	return keep[R](m.text())
}

// page is a page of a list whose entries have the form T.
func page[T, R any](text json.RawMessage, name string) json.RawMessage {
	if readable[R](text) {
		return text
	}
	m := membersOf(text)
	var entries []json.RawMessage
	_ = json.Unmarshal(m[name], &entries)
	strict := []json.RawMessage{}
	for _, one := range entries {
		if membersOf(one) != nil {
			strict = append(strict, keep[T](one))
		}
	}
	list, _ := json.Marshal(strict)
	page := members{name: list}
	if cursor := m["nextCursor"]; cursor != nil && string(cursor) != "null" {
		page["nextCursor"] = quote(plain(cursor))
	}
	return page.text()
}

// taskOnly marks a tool that its server runs only as a task: the library drops that part of a tool.
const taskOnly = "podd/task"

// markTasks marks such tools of a list.
func markTasks(list json.RawMessage) json.RawMessage {
	if !bytes.Contains(list, []byte(`"taskSupport"`)) {
		return list
	}
	m := membersOf(list)
	tools := listOf(m["tools"])
	for i, one := range tools {
		if t := membersOf(one); plain(membersOf(t["execution"])["taskSupport"]) == "required" {
			t["_meta"] = members{taskOnly: json.RawMessage("true")}.text()
			tools[i] = t.text()
		}
	}
	m["tools"], _ = json.Marshal(tools)
	return m.text()
}

// whole is a result R with a list of parts, each turned strict by part. Without the list, the
// result is the only part.
func whole[R any](text json.RawMessage, name string, part func(json.RawMessage) []json.RawMessage) json.RawMessage {
	m := membersOf(text)
	if m[name] != nil && readable[R](text) || string(text) == "{}" {
		return text
	}
	given := text
	if m[name] != nil {
		given = m[name]
	}
	parts := []json.RawMessage{}
	for _, one := range listOf(given) {
		parts = append(parts, part(one)...)
	}
	list, _ := json.Marshal(parts)
	return members{name: list}.text()
}

// listOf are the entries of a list; a value that is no list is the only one.
func listOf(value json.RawMessage) (list []json.RawMessage) {
	if json.Unmarshal(value, &list) == nil {
		return list
	}
	return []json.RawMessage{value}
}

// called is the result of a call. A result without content is shown as it is.
func called(text json.RawMessage) json.RawMessage {
	m, out := membersOf(text), members{}
	if m["structuredContent"] != nil {
		out["structuredContent"] = m["structuredContent"]
	}
	if failed := plain(m["isError"]); failed == "true" || failed == "1" {
		out["isError"] = json.RawMessage("true")
	}
	rest := maps.Clone(m)
	for _, known := range []string{"content", "structuredContent", "isError", "_meta", "resultType"} {
		delete(rest, known)
	}
	blocks := []json.RawMessage{}
	switch given := m["content"]; {
	case m == nil:
		blocks = append(blocks, block(text))
	case given != nil && string(given) != "null":
		for _, one := range listOf(given) {
			blocks = append(blocks, block(one))
		}
	case out["structuredContent"] == nil && len(rest) > 0:
		blocks = append(blocks, block(rest.text()))
	}
	out["content"], _ = json.Marshal(blocks)
	return out.text()
}

func resourcePart(one json.RawMessage) []json.RawMessage {
	if !readable[sdk.ResourceContents](one) {
		one = members{"uri": quote(plain(membersOf(one)["uri"])), "text": quote(plain(one))}.text()
	}
	return []json.RawMessage{one}
}

// promptPart is a message of a prompt: one for each block of its content.
func promptPart(one json.RawMessage) (parts []json.RawMessage) {
	m, given := membersOf(one), one
	if m["content"] != nil {
		given = m["content"]
	}
	for _, content := range listOf(given) {
		parts = append(parts, members{"role": quote(plain(m["role"])), "content": block(content)}.text())
	}
	return parts
}

// block is a block of content. One of an unknown kind or form is text: what it is, as JSON.
func block(one json.RawMessage) json.RawMessage {
	text := plain(one)
	if m := membersOf(one); m != nil {
		var kind string
		_ = json.Unmarshal(m["type"], &kind)
		content, _ := json.Marshal([]json.RawMessage{one})
		strict := readable[sdk.CallToolResult](members{"content": content}.text())
		if strict && (kind != "text" || m["text"] != nil) {
			return one
		}
		if kind != "" {
			text = fmt.Sprintf("[content of the kind %s, as the server sent it]\n%s", word(kind), text)
		}
	}
	return members{"type": json.RawMessage(`"text"`), "text": quote(text)}.text()
}
