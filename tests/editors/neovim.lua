-- What a user of Neovim 0.7 sees: diagnostics, hover, definition, rename and a code action. Says what does not hold, and ends with 1.

local here = vim.fn.getcwd()
local client = vim.lsp.start_client({ cmd = { vim.env.XDSCTL, "lsp" }, root_dir = here, name = "xdsctl" })

local function say(text)
  io.stderr:write(text .. "\n")
end

local function finish(code)
  vim.cmd(code == 0 and "qall!" or "cquit!")
end

local function hold(what, is_so, seen)
  if not is_so then
    say(what .. " does not hold: " .. vim.inspect(seen))
    finish(1)
  end
  say(what .. " holds")
end

local function open(name)
  vim.cmd("edit " .. name)
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].filetype = "yaml"
  vim.lsp.buf_attach_client(buffer, client)
  return buffer
end

local function wait(what, is_so)
  if not vim.wait(20000, is_so, 20) then
    hold(what, false, "nothing in 20 seconds")
  end
end

-- Puts the cursor into a word of the buffer.
local function go(buffer, word)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local at = line:find(word, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { number, at })
      return
    end
  end
  hold("the word " .. word, false, "it is not there")
end

local function request(buffer, method, more)
  local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(0, "utf-16"), more or {})
  local answers, failure = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  local answer = answers and answers[client]
  hold(method .. " is answered", answer and not answer.error, { answers, failure })
  return answer.result
end

local function main()
  open("cds.yaml")
  open("rds.yaml")
  open("lds.yaml")
  local endpoints = open("eds.yaml")

  -- Diagnostics.
  local function rules()
    return vim.tbl_map(function(found)
      return found.code or (found.user_data and found.user_data.lsp and found.user_data.lsp.code)
    end, vim.diagnostic.get(endpoints))
  end
  wait("a diagnostic", function()
    return #vim.diagnostic.get(endpoints) > 0
  end)
  hold("the diagnostic's rule", vim.tbl_contains(rules(), "eds-locality-without-weight"), rules())
  hold("its severity", vim.diagnostic.get(endpoints)[1].severity == vim.diagnostic.severity.WARN, vim.diagnostic.get(endpoints))

  -- Hover.
  go(endpoints, "locality")
  local hover = request(endpoints, "textDocument/hover")
  local text = table.concat(vim.lsp.util.convert_input_to_markdown_lines(hover.contents), "\n")
  hold("hover names the field", text:find("LocalityLbEndpoints", 1, true) ~= nil, text)

  -- A suppression with a reason: the action of the list, applied as a user's choice would be.
  go(endpoints, "locality")
  local diagnostics = vim.lsp.diagnostic.get_line_diagnostics(endpoints)
  local range = vim.lsp.util.make_range_params(0, "utf-16").range
  local actions = request(endpoints, "textDocument/codeAction", { range = range, context = { diagnostics = diagnostics } })
  local suppress
  for _, action in ipairs(actions) do
    if action.title == "Suppress eds-locality-without-weight here, with a reason" then
      suppress = action
    end
  end
  hold("a code action", suppress, actions)
  vim.lsp.util.apply_workspace_edit(suppress.edit, "utf-16")
  wait("the diagnostic is gone", function()
    return not vim.tbl_contains(rules(), "eds-locality-without-weight")
  end)

  -- Definition, by the command that a key is mapped to.
  local routes = open("rds.yaml")
  go(routes, "cart")
  vim.lsp.buf.definition()
  wait("the jump", function()
    return vim.fn.expand("%:t") == "cds.yaml"
  end)
  hold("the definition's line", vim.api.nvim_win_get_cursor(0)[1] == 2, vim.api.nvim_win_get_cursor(0))

  -- Rename through the world.
  routes = open("rds.yaml")
  go(routes, "cart")
  vim.lsp.buf.rename("basket")
  local function has(name, wanted)
    local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr(name), 0, -1, false)
    return table.concat(lines, "\n"):find(wanted, 1, true) ~= nil
  end
  wait("the rename", function()
    return has("rds.yaml", "cluster: basket") and has("cds.yaml", "name: basket") and has("eds.yaml", "cluster_name: basket")
  end)
  say("all of it holds")
  finish(0)
end

vim.schedule(function()
  local is_fine, failure = xpcall(main, debug.traceback)
  if not is_fine then
    say(failure)
    finish(1)
  end
end)
