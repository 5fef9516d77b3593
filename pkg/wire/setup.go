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
		NoImages:            k.NoImages,
		OutputLimits:        outputLimitsToProto(k.OutputLimits),
		Base:                clean(k.Base),
		Environment:         clean(k.Environment),
		Endpoint:            clean(k.Endpoint),
		Options:             optionsToProto(k.Options),
		Body:                clean(k.Body),
		CacheKey:            clean(k.CacheKey),
		UnsignedCalls:       k.UnsignedCalls,
		Window:              int64(k.Window),
		AnswerLimit:         k.AnswerLimit,
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
		NoImages:            p.GetNoImages(),
		OutputLimits:        outputLimitsFromProto(p.GetOutputLimits()),
		Base:                p.GetBase(),
		Environment:         p.GetEnvironment(),
		Endpoint:            p.GetEndpoint(),
		Options:             optionsFromProto(p.GetOptions()),
		Body:                p.GetBody(),
		CacheKey:            p.GetCacheKey(),
		UnsignedCalls:       p.GetUnsignedCalls(),
		Window:              int(p.GetWindow()),
		AnswerLimit:         p.GetAnswerLimit(),
	}
}

func outputLimitsToProto(list []item.OutputLimit) []*poddv1.OutputLimit {
	var out []*poddv1.OutputLimit
	for _, l := range list {
		out = append(out, &poddv1.OutputLimit{
			Tool: clean(l.Tool), MaxBytes: int64(l.MaxBytes), MaxLines: int64(l.MaxLines),
			Strategy: clean(l.Strategy), HeadPercent: toInt32(l.HeadPercent),
		})
	}
	return out
}

func outputLimitsFromProto(list []*poddv1.OutputLimit) []item.OutputLimit {
	var out []item.OutputLimit
	for _, p := range list {
		out = append(out, item.OutputLimit{
			Tool: p.GetTool(), MaxBytes: int(p.GetMaxBytes()), MaxLines: int(p.GetMaxLines()),
			Strategy: p.GetStrategy(), HeadPercent: int(p.GetHeadPercent()),
		})
	}
	return out
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
