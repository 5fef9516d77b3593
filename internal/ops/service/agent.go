package service

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// label is the agent's name.
const label = "podd"

// Agent is the agent for launchd. AbandonProcessGroup corresponds to systemd's
// KillMode=process; see Units.
func Agent(p Plan) string {
	var args strings.Builder
	for _, arg := range p.program() {
		args.WriteString("\t\t" + element("string", arg) + "\n")
	}
	environment := ""
	if p.Path != "" {
		environment = "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>PATH</key>\n\t\t" + element("string", p.Path) + "\n\t</dict>\n"
	}
	return xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + marker + `, which may replace it. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
` + environment + `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>AbandonProcessGroup</key>
	<true/>
	<key>ExitTimeOut</key>
	<integer>30</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>SoftResourceLimits</key>
	<dict>
		<key>Core</key>
		<integer>0</integer>
	</dict>
	<key>StandardErrorPath</key>
	` + element("string", p.Log) + `
</dict>
</plist>
`
}

// element is an XML element with text.
func element(name, text string) string {
	var b bytes.Buffer
	// Writing to a bytes.Buffer never fails.
	_ = xml.EscapeText(&b, []byte(text))
	return "<" + name + ">" + b.String() + "</" + name + ">"
}
