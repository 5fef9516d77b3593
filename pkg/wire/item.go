package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// ItemToProto converts an item; it returns nil for nil, or for a pointer to an item.
func ItemToProto(it item.Item) *poddv1.Item {
	switch it := it.(type) {
	case item.UserMessage:
		return &poddv1.Item{Kind: &poddv1.Item_UserMessage{UserMessage: &poddv1.UserMessage{
			Text: clean(it.Text), Images: imagesToProto(it.Images),
		}}}
	case item.SystemMessage:
		return &poddv1.Item{Kind: &poddv1.Item_SystemMessage{SystemMessage: &poddv1.SystemMessage{
			Origin: clean(it.Origin), Ref: clean(it.Ref), Text: clean(it.Text), Images: imagesToProto(it.Images),
		}}}
	case item.AssistantMessage:
		return &poddv1.Item{Kind: &poddv1.Item_AssistantMessage{AssistantMessage: &poddv1.AssistantMessage{
			Text: clean(it.Text), Opaque: opaqueToProto(it.Opaque),
		}}}
	case item.Reasoning:
		return &poddv1.Item{Kind: &poddv1.Item_Reasoning{Reasoning: &poddv1.Reasoning{
			Text: clean(it.Text), Opaque: opaqueToProto(it.Opaque),
		}}}
	case item.ToolCall:
		return &poddv1.Item{Kind: &poddv1.Item_ToolCall{ToolCall: &poddv1.ToolCall{
			CallId: clean(it.CallID), Name: clean(it.Name), Arguments: clean(it.Arguments), Via: clean(it.Via), Opaque: opaqueToProto(it.Opaque),
		}}}
	case item.ToolResult:
		return &poddv1.Item{Kind: &poddv1.Item_ToolResult{ToolResult: toolResultToProto(it)}}
	default:
		return nil
	}
}

// ItemFromProto converts an item. It returns nil for an item without a known kind.
func ItemFromProto(p *poddv1.Item) item.Item {
	switch k := p.GetKind().(type) {
	case *poddv1.Item_UserMessage:
		return item.UserMessage{Text: k.UserMessage.GetText(), Images: imagesFromProto(k.UserMessage.GetImages())}
	case *poddv1.Item_SystemMessage:
		m := k.SystemMessage
		return item.SystemMessage{Origin: m.GetOrigin(), Ref: m.GetRef(), Text: m.GetText(), Images: imagesFromProto(m.GetImages())}
	case *poddv1.Item_AssistantMessage:
		m := k.AssistantMessage
		return item.AssistantMessage{Text: m.GetText(), Opaque: opaqueFromProto(m.GetOpaque())}
	case *poddv1.Item_Reasoning:
		return item.Reasoning{Text: k.Reasoning.GetText(), Opaque: opaqueFromProto(k.Reasoning.GetOpaque())}
	case *poddv1.Item_ToolCall:
		c := k.ToolCall
		return item.ToolCall{
			CallID: c.GetCallId(), Name: c.GetName(), Arguments: c.GetArguments(), Via: c.GetVia(), Opaque: opaqueFromProto(c.GetOpaque()),
		}
	case *poddv1.Item_ToolResult:
		return toolResultFromProto(k.ToolResult)
	default:
		return nil
	}
}

// ItemsToProto converts items in their order.
func ItemsToProto(list []item.Item) []*poddv1.Item {
	if len(list) == 0 {
		return nil
	}
	out := make([]*poddv1.Item, len(list))
	for i, it := range list {
		out[i] = ItemToProto(it)
	}
	return out
}

// ItemsFromProto converts items in their order; one of an unknown kind is nil.
func ItemsFromProto(list []*poddv1.Item) []item.Item {
	if len(list) == 0 {
		return nil
	}
	out := make([]item.Item, len(list))
	for i, p := range list {
		out[i] = ItemFromProto(p)
	}
	return out
}

// opaqueToProto omits the zero value, which means nothing to send back.
func opaqueToProto(o item.Opaque) *poddv1.Opaque {
	if o == (item.Opaque{}) {
		return nil
	}
	return &poddv1.Opaque{Api: clean(o.API), Endpoint: clean(o.Endpoint), Model: clean(o.Model), Json: []byte(o.JSON)}
}

func opaqueFromProto(p *poddv1.Opaque) item.Opaque {
	return item.Opaque{API: p.GetApi(), Endpoint: p.GetEndpoint(), Model: p.GetModel(), JSON: string(p.GetJson())}
}

// known says whether it is an item of the vocabulary, and a value.
func known(it item.Item) bool {
	switch it.(type) {
	case item.UserMessage, item.SystemMessage, item.AssistantMessage, item.Reasoning, item.ToolCall, item.ToolResult:
		return true
	default:
		return false
	}
}
