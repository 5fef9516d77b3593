package layers

// Table says which imports are allowed. Paths of packages are relative to the module's
// root and use slashes.
type Table struct {
	// Module is the module's path.
	Module string
	// Ranks has the rank of each package of the module.
	Ranks map[string]int
	// Homes has, for each third-party module, the packages that may import it. A home that
	// ends in "/" means all packages below it.
	Homes map[string][]string
	// ForTests are the third-party modules that all tests may import, and the
	// packages that exist for tests.
	ForTests []string
	// Machinery are the packages that exist for tests, besides those whose names say so
	// (storetest). One that ends in "/" means all packages below it. The product imports
	// none of them.
	Machinery []string
}

// Podd is the table of this module. docs/architecture.md says what each package
// owns.
func Podd() Table {
	return Table{
		Module: "podd",
		Ranks:  ranks,
		Homes:  homes(),
		ForTests: []string{
			"github.com/charmbracelet/x/vt",
			"github.com/prometheus/client_model",
			"github.com/prometheus/common",
			"github.com/rogpeppe/go-internal",
			"go.opentelemetry.io/proto/otlp",
			"go.uber.org/goleak",
			"pgregory.net/rapid",
		},
		Machinery: []string{"internal/testing/", "integrations/", "examples/"},
	}
}

// ranks has each package, which imports only packages of lower ranks.
var ranks = map[string]int{
	"internal/testing/attack":    0,
	"pkg/scopefs/git":            0,
	"pkg/scopefs/ignore":         0,
	"internal/guard/harden":      0,
	"internal/testing/layers":    0,
	"internal/testing/pages":     0,
	"internal/testing/size":      0,
	"internal/testing/programs":  0,
	"internal/commands":          0,
	"internal/commands/process":  0,
	"internal/commands/lease":    0,
	"internal/commands/launcher": 1,
	"internal/commands/confine":  0,
	"internal/workspace/repomap": 1,
	"internal/workspace/picture": 1,
	"internal/extend/webpage":    0,
	"pkg/lazy":                   0,
	"internal/sanitize":          0,
	"internal/clients/tty":       0,
	"internal/clients/cells":     0,
	"internal/clients/highlight": 0,
	"internal/clients/show":      1,
	"internal/clients/desk":      1,
	"pkg/version":                0,
	"internal/typo":              0,
	"pkg/catalog":                0,
	"pkg/item":                   0,
	"proto/podd/v1":              0,

	"pkg/live":                  1,
	"pkg/catalog/reduce":        1,
	"pkg/paths":                 1,
	"internal/podname":          1,
	"internal/imports/sessions": 1,
	"internal/guard/secrets":    1,
	"internal/guard/policy":     1,
	"internal/ops/service":      1,
	"internal/ops/systemd":      1,
	"pkg/wire":                  1,
	"pkg/hook":                  1,
	"pkg/store/rules":           1,
	"pkg/llm":                   1,
	"pkg/scopefs":               1,
	"pkg/tool":                  1,
	"pkg/tool/record":           0,
	"pkg/tool/scratch":          0,
	"pkg/tool/spool":            1,

	"internal/workspace/briefing":     2,
	"internal/workspace/instructions": 2,
	"internal/workspace/prompts":      1,
	"internal/workspace/skills":       2,
	"internal/ops/metrics":            2,
	"internal/guard/sandbox":          2,
	"internal/commands/shim":          2,
	"pkg/socket":                      2,
	"pkg/hook/hooktest":               2,
	"pkg/llm/encode":                  2,
	"pkg/llm/exchange":                2,
	"pkg/llm/scripted":                2,
	"pkg/interceptor":                 2,
	"pkg/fold":                        2,
	"pkg/store":                       2,
	"pkg/transcript":                  2,

	"internal/guard/keys":             2,
	"internal/guard/devices":          2,
	"internal/endpoints":              4,
	"internal/endpoints/dial":         5,
	"internal/extend/extern":          3,
	"internal/ops/debugserver":        3,
	"internal/ops/keeper":             4,
	"internal/ops/setup":              6,
	"internal/clients/markdown":       2,
	"internal/clients/export":         4,
	"internal/clients/view":           3,
	"pkg/wire/wiretest":               3,
	"internal/extend/mcp":             3,
	"internal/testing/prunebench":     3,
	"internal/ops/retention":          3,
	"internal/guard/spending":         3,
	"internal/search":                 3,
	"internal/spec":                   3,
	"internal/ops/traces":             3,
	"internal/requests":               3,
	"internal/extend/claude":          4,
	"internal/extend/plugin":          5,
	"internal/guard/trust":            5,
	"internal/testing/editbench":      4,
	"internal/testing/pgtest":         0,
	"internal/testing/demonodes":      3,
	"internal/testing/certs":          0,
	"internal/testing/leases":         0,
	"internal/testing/figures":        0,
	"internal/testing/logs":           4,
	"internal/workspace/checkout":     4, // Its tests import the sandbox.
	"pkg/interceptor/interceptortest": 3,
	"pkg/llm/llmtest":                 3,
	"pkg/llm/anthropic":               3,
	"pkg/llm/openai":                  3,
	"internal/fleet/postgres":         3,
	"pkg/store/storetest":             3,
	"internal/tools/builtin":          3,
	"internal/shell":                  5,
	"pkg/tool/tooltest":               3,
	"pkg/worker":                      3,

	"pkg/pod": 4,

	"internal/config":    6,
	"internal/checkouts": 6,
	"internal/fleet":     6,
	"internal/report":    5,
	"internal/server":    7,
	"internal/web":       6,
	"pkg/client":         5,
	"internal/subpods":   6,
	"internal/questions": 5,
	"internal/trash":     5,
	"internal/letters":   5,
	"internal/imports":   5,
	"internal/triggers":  7,
	"internal/files":     5,
	"internal/workspace": 6,

	"internal/clients/acp":    6,
	"internal/clients/bridge": 6,
	"internal/clients/attach": 6,
	"internal/clients/top":    6,
	"internal/clients/remote": 2,
	"internal/testing/crash":  6,
	"internal/daemon":         8,

	"internal/testing/bench/floor":    6,
	"internal/testing/bench/floorctl": 6,
	"internal/testing/bench/model":    6,

	"internal/testing/bench": 7,
	"internal/demo":          7,
	"internal/web/webtest":   6,
	"internal/ops/manpage":   7,

	"examples/wing": 9,

	"cmd/podctl": 8,
	"cmd/podd":   9,

	"cmd/podd-launch": 3,

	"integrations/acp":           10,
	"integrations/attach":        10,
	"integrations/clients":       10,
	"integrations/nvim":          10,
	"integrations/rig":           8,
	"integrations/rig/acpclient": 9,
	"integrations/rig/neovim":    9,
	"integrations/release":       10,
	"integrations/service":       10,
	"integrations/upgrade":       10,
	"integrations/shell":         10,
	"integrations/switch":        10,
	"integrations/together":      10,
	"integrations/vscode":        10,
	"integrations/web":           9,
	"integrations/postgres":      10,
	"integrations/mcp":           9,
}

func homes() map[string][]string {
	rpc := []string{"proto/podd/v1", "pkg/wire", "pkg/wire/wiretest", "pkg/store", "internal/server", "internal/checkouts", "internal/extend/mcp", "internal/extend/plugin", "internal/files", "internal/fleet", "internal/imports", "internal/letters", "internal/triggers", "internal/shell", "internal/web", "pkg/client", "internal/clients/bridge", "internal/testing/bench", "internal/testing/bench/", "cmd/", "examples/wing"}
	return map[string][]string{
		"charm.land/bubbletea/v2":                         {"internal/clients/attach", "internal/clients/top"},
		"github.com/aymanbagabas/go-udiff":                {"internal/files", "internal/tools/builtin"},
		"github.com/go-git/go-billy/v5":                   {"internal/files"},
		"github.com/go-git/go-git/v5":                     {"internal/files"},
		"github.com/bmatcuk/doublestar/v4":                {"internal/guard/policy", "pkg/scopefs/ignore", "pkg/scopefs"},
		"github.com/charmbracelet/colorprofile":           {"internal/clients/attach", "internal/clients/top"},
		"github.com/charmbracelet/x/ansi":                 {"internal/clients/attach", "internal/clients/cells"},
		"github.com/coder/acp-go-sdk":                     {"internal/clients/acp"},
		"github.com/creack/pty":                           {"internal/clients/attach", "internal/commands/shim", "internal/guard/sandbox", "integrations/shell", "cmd/"},
		"github.com/google/jsonschema-go":                 {"pkg/tool"},
		"github.com/JohannesKaufmann/html-to-markdown/v2": {"internal/extend/webpage"},
		"github.com/junegunn/fzf":                         {"pkg/scopefs"},
		"github.com/modelcontextprotocol/go-sdk":          {"internal/extend/mcp"},
		"github.com/anishathalye/porcupine":               {"internal/testing/crash"},
		"github.com/openai/openai-go/v3":                  {"pkg/llm/openai", "pkg/llm/exchange", "internal/testing/bench/"},
		"github.com/pelletier/go-toml/v2":                 {"internal/config", "internal/clients/desk", "pkg/llm/exchange"},
		"github.com/robfig/cron/v3":                       {"internal/triggers"},
		"github.com/spf13/cobra":                          {"cmd/", "internal/ops/manpage", "examples/wing"},
		"github.com/spf13/pflag":                          {"cmd/"},
		"github.com/tidwall/gjson":                        {"pkg/llm/anthropic", "pkg/llm/exchange", "pkg/llm/openai", "internal/testing/bench/"},
		"github.com/yuin/goldmark":                        {"internal/clients/markdown"},
		"github.com/jackc/pgx/v5":                         {"internal/fleet/postgres"},
		"connectrpc.com/connect":                          {"internal/web"},
		"rsc.io/qr":                                       {"cmd/"},
		"go.etcd.io/bbolt":                                {"pkg/store", "internal/testing/bench/"},
		"go.opentelemetry.io/otel":                        {"internal/ops/traces"},
		"golang.org/x/image":                              {"internal/workspace/picture"},
		"golang.org/x/net":                                {"internal/extend/webpage"},
		"golang.org/x/oauth2":                             {"internal/extend/mcp"},
		"golang.org/x/sys":                                {"internal/testing/bench", "internal/testing/crash", "internal/guard/harden", "internal/commands/process", "internal/commands/lease", "internal/commands/shim", "internal/commands/launcher", "internal/commands/confine", "internal/guard/sandbox", "internal/extend/plugin", "pkg/socket", "internal/clients/tty", "internal/files", "internal/triggers", "pkg/scopefs/git", "pkg/scopefs", "internal/tools/builtin", "pkg/tool/scratch", "cmd/"},
		"golang.org/x/text":                               {"pkg/scopefs"},
		"golang.org/x/term":                               {"internal/clients/attach", "cmd/"},
		"go.yaml.in/yaml/v3":                              {"internal/workspace/skills"},
		"google.golang.org/genproto":                      rpc,
		"google.golang.org/grpc":                          rpc,
		"google.golang.org/protobuf":                      append(rpc, "pkg/transcript", "internal/clients/attach", "internal/clients/top", "integrations/web"),
		"mvdan.cc/sh/v3":                                  {"internal/guard/policy", "internal/testing/pages"},
	}
}
