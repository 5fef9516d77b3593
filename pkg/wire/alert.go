package wire

import (
	"fmt"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/proto"
)

var levels = enum[item.Level]{
	poddv1.AlertLevel_ALERT_LEVEL_INFO:  item.LevelInfo,
	poddv1.AlertLevel_ALERT_LEVEL_WARN:  item.LevelWarn,
	poddv1.AlertLevel_ALERT_LEVEL_ERROR: item.LevelError,
}

// EncodeAlert is the stored form of an alert: a podd.v1.Alert message. The same
// alert gives the same bytes.
func EncodeAlert(a item.Alert) ([]byte, error) {
	body, err := marshal(AlertToProto(a))
	if err != nil {
		return nil, fmt.Errorf("encode alert: %w", err)
	}
	return body, nil
}

// DecodeAlert reads what EncodeAlert wrote. The alert does not share memory with
// body.
func DecodeAlert(body []byte) (item.Alert, error) {
	var p poddv1.Alert
	if err := proto.Unmarshal(body, &p); err != nil {
		return item.Alert{}, fmt.Errorf("decode alert: %w", err)
	}
	return AlertFromProto(&p), nil
}

// AlertToProto converts an alert.
func AlertToProto(a item.Alert) *poddv1.Alert {
	return &poddv1.Alert{
		Seq:    int64(a.Seq),
		Pod:    clean(a.Pod),
		Level:  poddv1.AlertLevel(levels.number(a.Level)),
		Source: clean(a.Source),
		Text:   clean(a.Text),
		Time:   timeToProto(a.Time),
		Count:  a.Count,
		Acked:  a.Acked,
		Reason: clean(a.Reason),
	}
}

// AlertFromProto converts an alert. A level that this podd does not know is
// empty.
func AlertFromProto(p *poddv1.Alert) item.Alert {
	return item.Alert{
		Seq:    item.Seq(p.GetSeq()),
		Pod:    p.GetPod(),
		Level:  levels.name(int32(p.GetLevel())),
		Source: p.GetSource(),
		Text:   p.GetText(),
		Time:   timeFromProto(p.GetTime()),
		Count:  p.GetCount(),
		Acked:  p.GetAcked(),
		Reason: p.GetReason(),
	}
}

// AlertsToProto converts alerts in their order.
func AlertsToProto(list []item.Alert) []*poddv1.Alert {
	if len(list) == 0 {
		return nil
	}
	out := make([]*poddv1.Alert, len(list))
	for i, a := range list {
		out[i] = AlertToProto(a)
	}
	return out
}
