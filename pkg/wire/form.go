package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// FormToProto converts what a running call asks; nil stays nil.
func FormToProto(f *item.Form) *poddv1.Form {
	if f == nil {
		return nil
	}
	out := &poddv1.Form{From: clean(f.From), Text: clean(f.Text)}
	for _, q := range f.Questions {
		p := &poddv1.FormQuestion{Header: clean(q.Header), Text: clean(q.Text), Multiple: q.Multiple, Takes: takesToProto(q.Takes)}
		for _, o := range q.Options {
			p.Options = append(p.Options, &poddv1.FormOption{Label: clean(o.Label), Description: clean(o.Description)})
		}
		out.Questions = append(out.Questions, p)
	}
	return out
}

// FormFromProto is the reverse of FormToProto.
func FormFromProto(p *poddv1.Form) *item.Form {
	if p == nil {
		return nil
	}
	out := &item.Form{From: p.GetFrom(), Text: p.GetText()}
	for _, q := range p.GetQuestions() {
		f := item.FormQuestion{Header: q.GetHeader(), Text: q.GetText(), Multiple: q.GetMultiple(), Takes: takesFromProto(q.GetTakes())}
		for _, o := range q.GetOptions() {
			f.Options = append(f.Options, item.FormOption{Label: o.GetLabel(), Description: o.GetDescription()})
		}
		out.Questions = append(out.Questions, f)
	}
	return out
}

func takesToProto(t *item.FormTakes) *poddv1.FormTakes {
	if t == nil {
		return nil
	}
	p := &poddv1.FormTakes{Type: clean(t.Type), Optional: t.Optional, Format: clean(t.Format), Pattern: clean(t.Pattern)}
	if t.Min != nil {
		p.Lower = &poddv1.FormTakes_Min{Min: *t.Min}
	}
	if t.Max != nil {
		p.Upper = &poddv1.FormTakes_Max{Max: *t.Max}
	}
	return p
}

func takesFromProto(p *poddv1.FormTakes) *item.FormTakes {
	if p == nil {
		return nil
	}
	t := &item.FormTakes{Type: p.GetType(), Optional: p.GetOptional(), Format: p.GetFormat(), Pattern: p.GetPattern()}
	if lower, ok := p.GetLower().(*poddv1.FormTakes_Min); ok {
		t.Min = &lower.Min
	}
	if upper, ok := p.GetUpper().(*poddv1.FormTakes_Max); ok {
		t.Max = &upper.Max
	}
	return t
}

// RepliesToProto converts the answers to a form.
func RepliesToProto(list []item.FormReply) (out []*poddv1.FormReply) {
	for _, r := range list {
		p := &poddv1.FormReply{Text: clean(r.Text)}
		for _, n := range r.Choices {
			p.Choices = append(p.Choices, toInt32(n))
		}
		out = append(out, p)
	}
	return out
}

// RepliesFromProto is the reverse of RepliesToProto.
func RepliesFromProto(list []*poddv1.FormReply) (out []item.FormReply) {
	for _, p := range list {
		r := item.FormReply{Text: p.GetText()}
		for _, n := range p.GetChoices() {
			r.Choices = append(r.Choices, int(n))
		}
		out = append(out, r)
	}
	return out
}
