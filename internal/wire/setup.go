package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func setupToProto(k item.Setup) *poddv1.Setup {
	return &poddv1.Setup{
		Model:               clean(k.Model),
		Api:                 clean(k.API),
		Instructions:        clean(k.Instructions),
		ProjectInstructions: clean(k.ProjectInstructions),
		Tools:               toolSpecsToProto(k.Tools),
		Renderer:            toInt32(k.Renderer),
		FileRefRole:         clean(k.FileRefRole),
	}
}

func setupFromProto(p *poddv1.Setup) item.Setup {
	return item.Setup{
		Model:               p.GetModel(),
		API:                 p.GetApi(),
		Instructions:        p.GetInstructions(),
		ProjectInstructions: p.GetProjectInstructions(),
		Tools:               toolSpecsFromProto(p.GetTools()),
		Renderer:            int(p.GetRenderer()),
		FileRefRole:         p.GetFileRefRole(),
	}
}

func toolSpecsToProto(list []item.ToolSpec) []*poddv1.ToolSpec {
	if len(list) == 0 {
		return nil
	}
	out := make([]*poddv1.ToolSpec, len(list))
	for i, t := range list {
		out[i] = &poddv1.ToolSpec{Name: clean(t.Name), Description: clean(t.Description), Schema: []byte(t.Schema)}
	}
	return out
}

func toolSpecsFromProto(list []*poddv1.ToolSpec) []item.ToolSpec {
	if len(list) == 0 {
		return nil
	}
	out := make([]item.ToolSpec, len(list))
	for i, p := range list {
		out[i] = item.ToolSpec{Name: p.GetName(), Description: p.GetDescription(), Schema: string(p.GetSchema())}
	}
	return out
}
