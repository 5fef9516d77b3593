//go:build integrations && switch

package switches

import (
	"fmt"
	"testing"

	"podd/integrations/rig"
)

const (
	schema  = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`
	session = "6f0c8f44-9e57-4a9e-8a5a-0d3c6d5a6a01"
	thread  = `sed -n 's/.*"thread_id":"\([^"]*\)".*/\1/p' | head -1`
)

// pixel is a picture.
const pixel = "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x08\x00\x00\x00\x08\x08\x02\x00\x00\x00\x4b\x6d\x29\xdc\x00\x00\x00\x11\x49\x44\x41\x54\x78\x9c\x63\x68\x50\x70\xc0\x8a\x18\x86\x96\x04\x00\xf2\x03\x38\x01\xa4\x15\x63\x18\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"

const hooks = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "$CLAUDE_PROJECT_DIR/.claude/no.sh"}]}]}}`

func tasks(t *testing.T) []task {
	echo := fmt.Sprintf("node %s stdio", rig.NPM(t, "@modelcontextprotocol", "server-everything", "dist", "index.js"))
	server := fmt.Sprintf(`{"mcpServers":{"every":{"command":"node","args":[%q,"stdio"]}}}`, rig.NPM(t, "@modelcontextprotocol", "server-everything", "dist", "index.js"))
	return []task{
		{
			name:   "a prompt",
			claude: `claude -p 'SAY hello there'`,
			codex:  `codex exec 'SAY hello there'`,
			podd:   `podctl submit -f 'SAY hello there'`,
			want:   `^hello there$`,
		},
		{
			name:   "a prompt from a pipe",
			claude: `echo 'SAY piped' | claude -p`,
			codex:  `echo 'SAY piped' | codex exec -`,
			podd:   `echo 'SAY piped' | podctl run`,
			want:   `^piped$`,
		},
		{
			name:   "a text from a pipe beside the prompt",
			claude: `echo 'mark-7' | claude -p 'SEES mark+-7'`,
			codex:  `echo 'mark-7' | codex exec 'SEES mark+-7'`,
			podd:   `echo 'mark-7' | podctl run 'SEES mark+-7'`,
			want:   `it is there`,
		},
		{
			name:   "JSON for programs",
			claude: `claude -p --output-format json 'SAY for programs'`,
			codex:  `codex exec --json 'SAY for programs'`,
			podd:   `podctl run -o json 'SAY for programs'`,
			want:   `^\{.*for programs.*\}$`,
		},
		{
			name:   "events as they come",
			claude: `claude -p --verbose --output-format stream-json --allowedTools Bash -- 'RUN echo made 1'`,
			codex:  `codex exec --json 'RUN echo made 1'`,
			podd:   `podctl run 'RUN echo made 1' >/dev/null; podctl tail -n 50 -o json`,
			want:   `(?s)\{.*echo made 1.*\}\n.*\{.*it says: made 1.*\}\n`,
		},
		{
			name:   "an answer that matches a schema",
			files:  map[string]string{"schema.json": schema},
			claude: `claude -p --output-format json --json-schema "$(cat schema.json)" 'SAY {"name":"Ada"}'`,
			codex:  `codex exec --output-schema schema.json 'SAY {"name":"Ada"}'`,
			podd:   `podctl submit -f --schema schema.json 'SAY {"name":"Ada"}'`,
			want:   `"name": ?"Ada"`,
		},
		{
			name:   "the answer in a file",
			claude: `claude -p 'SAY kept' >out; cat out`,
			codex:  `codex exec -o out 'SAY kept' >/dev/null; cat out`,
			podd:   `podctl run 'SAY kept' >out; cat out`,
			want:   `^kept$`,
		},
		{
			name:   "go on",
			claude: `claude -p 'SAY one' >/dev/null; claude -p -c 'PRINT'`,
			codex:  `codex exec 'SAY one' >/dev/null; codex exec resume --last 'PRINT'`,
			podd:   `podctl run 'SAY one' >/dev/null; podctl run 'PRINT'`,
			want:   `SAY one; PRINT`,
		},
		{
			name:   "go on with one of several",
			claude: `claude -p --session-id ` + session + ` 'SAY one' >/dev/null; claude -p 'SAY two' >/dev/null; claude -p --resume ` + session + ` 'PRINT'`,
			codex:  `id=$(codex exec --json 'SAY one' | ` + thread + `); codex exec 'SAY two' >/dev/null; codex exec resume $id 'PRINT'`,
			podd:   `podctl create several >/dev/null; podctl run -p several 'SAY one' >/dev/null; podctl create other >/dev/null; podctl run -p other 'SAY two' >/dev/null; podctl run -p several 'PRINT'`,
			want:   `SAY one; PRINT`,
		},
		{
			name:   "begin anew",
			claude: `claude -p 'SAY one' >/dev/null; claude -p 'PRINT'`,
			codex:  `codex exec 'SAY one' >/dev/null; codex exec 'PRINT'`,
			podd:   `podctl run 'SAY one' >/dev/null; podctl create anew >/dev/null; podctl run -p anew 'PRINT'`,
			want:   `^PRINT$`,
		},
		{
			name:   "branch",
			claude: `claude -p 'SAY one' >/dev/null; claude -p -c --fork-session 'SAY two' >/dev/null; claude -p -c 'PRINT'`,
			codex:  `id=$(codex exec --json 'SAY one' | ` + thread + `); codex exec fork $id 'SAY two' >/dev/null; codex exec resume --last 'PRINT'`,
			podd:   `podctl create base >/dev/null; podctl run -p base 'SAY one' >/dev/null; podctl fork base branch >/dev/null; podctl run -p branch 'SAY two' >/dev/null; podctl run -p branch 'PRINT'`,
			want:   `SAY one; SAY two; PRINT`,
		},
		{
			name: "take a turn back",
			podd: `podctl run 'SAY one' >/dev/null; at=$(podctl run -o json 'SAY two' | sed -n 's/.*"seq":"\([0-9]*\)".*/\1/p' | head -1); podctl rewind take-a-turn-back-podd $at >/dev/null; podctl run 'PRINT'`,
			want: `SAY one; PRINT`,
		},
		{
			name:   "give it a name",
			claude: `claude -p -n mine 'SAY hello' >/dev/null; claude -p --resume mine 'PRINT'`,
			podd:   `podctl create mine >/dev/null; podctl run -p mine 'SAY hello' >/dev/null; podctl run -p mine 'PRINT'`,
			want:   `SAY hello; PRINT`,
		},
		{
			name:   "leave nothing behind",
			claude: `claude -p --no-session-persistence 'SAY gone'`,
			codex:  `codex exec --ephemeral 'SAY gone'`,
			podd:   `podctl run --once 'SAY gone'`,
			want:   `^gone$`,
		},
		{
			name:  "delete",
			codex: `id=$(codex exec --json 'SAY one' | ` + thread + `); codex delete --force $id >/dev/null 2>&1; codex exec resume $id 'PRINT' 2>&1 || echo "it is gone"`,
			podd:  `podctl create old >/dev/null; podctl delete old >/dev/null 2>&1; podctl run -p old --no-stdin 'PRINT' >/dev/null; podctl show old >/dev/null 2>&1 && podctl list | grep -q old || echo "it is gone"`,
			want:  `it is gone|^$`,
		},
		{
			name:   "run a command",
			claude: `claude -p --allowedTools Bash -- 'RUN echo made $((40 + 2)) >made && cat made'`,
			codex:  `codex exec -s workspace-write 'RUN echo made $((40 + 2)) >made && cat made'`,
			podd:   `podctl run 'RUN echo made $((40 + 2)) >made && cat made'`,
			want:   `it says: made 42`,
		},
		{
			name:   "plan and change nothing",
			claude: `claude -p --permission-mode plan 'RUN touch bad' >/dev/null; test ! -e bad && echo unchanged`,
			codex:  `codex exec -s read-only 'RUN touch bad' >/dev/null; test ! -e bad && echo unchanged`,
			podd:   `podctl submit -f --plan 'RUN touch bad' >/dev/null; test ! -e bad && echo unchanged`,
			want:   `^unchanged$`,
		},
		{
			name:   "ask nobody",
			claude: `claude -p --permission-mode dontAsk 'RUN curl -s https://example.com >bad'; test ! -s bad && echo unchanged`,
			codex:  `codex exec 'RUN curl -s https://example.com >bad'; test ! -s bad && echo unchanged`,
			podd:   `podctl create quiet --ask never >/dev/null; podctl run -p quiet 'RUN curl -s https://example.com >bad'; test ! -s bad && echo unchanged`,
			want:   `unchanged`,
		},
		{
			name:   "another model",
			claude: `claude -p --model claude-mark-8 'SEES "model":"claude+-mark-8"'`,
			codex:  `codex exec -m mark-8 'SEES "model":"+mark-8"'`,
			podd:   `podctl run --model mark-8 'SEES "model":"+mark-8"'`,
			want:   `it is there`,
		},
		{
			name:  "instructions of the repository",
			files: map[string]string{"CLAUDE.md": "Say mark-1.\n", "AGENTS.md": "Say mark-1.\n"}, claude: `claude -p 'SEES mark+-1'`,
			codex: `codex exec 'SEES mark+-1'`,
			podd:  `podctl run 'SEES mark+-1'`,
			want:  `it is there`,
		},
		{
			name:   "CLAUDE.md alone",
			files:  map[string]string{"CLAUDE.md": "Say mark-2.\n@docs/more.md\n", "docs/more.md": "Say mark-3.\n", ".claude/rules/go.md": "Say mark-4.\n"},
			claude: `claude -p 'SEES mark+-2'; claude -p 'SEES mark+-3'; claude -p 'SEES mark+-4'`,
			podd:   `podctl run 'SEES mark+-2'; podctl run 'SEES mark+-3'; podctl run 'SEES mark+-4'`,
			want:   `(?s)it is there.*it is there.*it is there`,
		},
		{
			name:  "AGENTS.override.md",
			files: map[string]string{"AGENTS.md": "Say mark-5.\n", "AGENTS.override.md": "Say mark-6.\n"},
			codex: `codex exec 'SEES mark+-6'; codex exec 'SEES mark+-5'`,
			podd:  `podctl run 'SEES mark+-6'; podctl run 'SEES mark+-5'`,
			want:  `(?s)it is there.*it is missing`,
		},
		{
			name: "instructions of the person",
			home: map[string]string{
				".claude/CLAUDE.md": "Say mark-7.\n", ".codex/AGENTS.md": "Say mark-7.\n", ".config/podd/AGENTS.md": "@~/.claude/CLAUDE.md\n",
			},
			claude: `claude -p 'SEES mark+-7'`,
			codex:  `codex exec 'SEES mark+-7'`,
			podd:   `podctl run 'SEES mark+-7'`,
			want:   `it is there`,
		},
		{
			name:   "instructions for one conversation",
			claude: `claude -p --append-system-prompt 'Say mark-9.' 'SEES mark+-9'`,
			codex:  `codex exec -c developer_instructions='"Say mark-9."' 'SEES mark+-9'`,
			podd:   `echo 'Say mark-9.' >more; podctl create more --instructions more >/dev/null; podctl run -p more 'SEES mark+-9'`,
			want:   `it is there`,
		},
		{
			name: "skills",
			files: map[string]string{
				".claude/skills/bake/SKILL.md": "---\nname: bake\ndescription: How to bake mark-a.\n---\nBake.\n",
				".agents/skills/cook/SKILL.md": "---\nname: cook\ndescription: How to cook mark-a.\n---\nCook.\n",
			},
			claude: `claude -p 'SEES bake mark+-a'`,
			codex:  `codex exec 'SEES cook mark+-a'`,
			podd:   `podctl run 'SEES bake mark+-a'; podctl run 'SEES cook mark+-a'`,
			want:   `it is there`,
		},
		{
			name:   "a file in the prompt",
			files:  map[string]string{"note.txt": "mark-b\n"},
			claude: "claude -p 'look at @note.txt\nSEES mark+-b'",
			podd:   "podctl run 'look at @note.txt\nSEES mark+-b'",
			want:   `it is there`,
		},
		{
			name:  "a picture in the prompt",
			files: map[string]string{"shot.png": pixel},
			codex: "codex exec -i shot.png -- 'look\nSEES data:image/+png'",
			podd:  `podctl submit -f --image shot.png 'SEES data:image/+png'`,
			want:  `it is there`,
		},
		{
			name:   "an MCP server of the repository",
			files:  map[string]string{".mcp.json": server},
			claude: `claude -p --mcp-config .mcp.json --allowedTools mcp__every__echo -- 'USE echo {"message":"by the server"}'`,
			podd:   `podctl trust --yes . >/dev/null; podctl run 'USE echo {"message":"by the server"}'`,
			want:   `it says: .*by the server`,
		},
		{
			name:   "an MCP server of the person",
			claude: `claude mcp add one -- ` + echo + ` >/dev/null; claude mcp list`,
			codex:  `codex mcp add one -- ` + echo + ` >/dev/null; codex mcp list`,
			podd:   `printf '[mcp.servers.one]\ncommand = "node"\nargs = ["%s", "stdio"]\n' "` + rig.NPM(t, "@modelcontextprotocol", "server-everything", "dist", "index.js") + `" >>~/.config/podd/config.toml; podctl reload >/dev/null; podctl mcp list`,
			want:   `^(server: )?one\b`,
		},
		{
			name:   "a worktree",
			claude: `claude -p -w --allowedTools Bash -- 'RUN echo made in $(pwd)'`,
			codex:  `codex exec --worktree 'RUN echo made in $(pwd)'`,
			podd:   `podctl create tree --worktree >/dev/null; podctl run -p tree 'RUN echo made in $(pwd)'`,
			want:   `made in .*(worktrees|checkouts)`,
		},
		{
			name:   "another directory",
			claude: `mkdir -p ../more; claude -p --add-dir ../more --allowedTools Bash -- 'RUN echo made >../more/claude && cat ../more/claude'; cat ../more/claude`,
			codex:  `mkdir -p ../more; codex exec -s workspace-write --add-dir ../more 'RUN echo made >../more/codex && cat ../more/codex' >/dev/null; cat ../more/codex`,
			podd:   `mkdir -p ../more; podctl create wide --write ../more >/dev/null; podctl run -p wide 'USE write_file {"path":"../more/podd","content":"made\n"}' >/dev/null; cat ../more/podd`,
			want:   `^made$`,
		},
		{
			name:  "a directory by a flag",
			codex: `mkdir sub; cd ..; codex exec -C "$OLDPWD/sub" 'RUN echo made in $(basename $(pwd))'`,
			podd:  `mkdir sub; podctl create there --dir sub >/dev/null; cd ..; podctl run -p there 'RUN echo made in $(basename $(pwd))'`,
			want:  `made in sub`,
		},
		{
			name:  "work without a terminal",
			codex: `id=$(codex exec --json 'SAY one' | ` + thread + `); codex queue --help >/dev/null && echo queued`,
			podd:  `podctl submit 'SAY later' | grep -o queued`,
			want:  `queued`,
		},
		{
			name:   "a command is looked at by a hook",
			files:  map[string]string{".claude/settings.json": hooks, ".claude/no.sh": "#!/bin/sh\ngrep -q forbidden && { echo mark-d >&2; exit 2; }\nexit 0\n"},
			claude: `claude -p --allowedTools Bash -- 'RUN touch forbidden'; test -e forbidden || echo unchanged`,
			podd:   `podctl trust --yes . >/dev/null; podctl run 'RUN touch forbidden'; test -e forbidden || echo unchanged`,
			want:   `(?s)mark-d.*^unchanged$`,
		},
		{
			name: "the sessions come along",
			podd: `claude -p --allowedTools Bash -- 'RUN echo made 5' >/dev/null && podctl import claude "$(ls -t ~/.claude/projects/*/*.jsonl | head -1)" --as from-claude >/dev/null && podctl run -p from-claude PRINT && podctl import claude --all
codex exec 'RUN echo made 6' >/dev/null && podctl import codex "$(ls -t ~/.codex/sessions/*/*/*/*.jsonl | head -1)" --as from-codex >/dev/null && podctl run -p from-codex PRINT && podctl import codex --all`,
			want: `(?s)RUN echo made 5; PRINT.*RUN echo made 6; PRINT`,
		},
		{
			name:   "what it used",
			claude: `claude -p --output-format json 'SAY x' | grep -o '"output_tokens":[0-9]*'`,
			codex:  `codex exec --json 'SAY x' | grep -o '"output_tokens":[0-9]*'`,
			podd:   `podctl run 'SAY x' >/dev/null; podctl stats what-it-used-podd -o json | grep -o '"output_tokens":"[0-9]*"'`,
			want:   `output_tokens`,
		},
		{
			name:   "a limit of cost",
			claude: `claude -p --max-budget-usd 0.000001 --allowedTools Bash -- 'RUN echo made 1' 2>&1 || echo "it stopped"`,
			podd:   `podctl create poor --model gpt-5.1 --max-cost 0.000001 >/dev/null; podctl run -p poor 'RUN echo made 1' 2>&1 || echo "it stopped"`,
			want:   `it stopped`,
		},
		{
			name:   "is it well",
			claude: `claude doctor 2>&1 || true`,
			codex:  `codex doctor 2>&1 || true`,
			podd:   `podctl status`,
			want:   `(?i)doctor|^podd: `,
		},
		{
			name:  "completion of a shell",
			codex: `codex completion bash | head -3`,
			podd:  `podctl completion bash | head -3`,
			want:  `codex|podctl`,
		},
	}
}
