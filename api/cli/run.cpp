// troupe run: runs a text graph (docs/text-graphs.md) and compares what comes out.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/library.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/serialization/close_to.hpp"
#include "troupe/serialization/text_graph.hpp"
#include "troupe/serialization/trace.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw error{failure(error_kind::not_found, "cannot read ", path)};
  return std::move(text).str();
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class runner {
public:
  runner(std::string file, session& in, const run_options& options)
      : file_(std::move(file)), session_(in), options_(options) {}

  void run(const text_run& what) {
    std::vector<feed> feeds;
    for (const auto& one : what.feeds)
      feeds.emplace_back(one.to, one.value);
    std::vector<edge> fetches;
    for (const auto& one : what.fetches)
      fetches.push_back(one.from);
    std::vector<tensor> fetched;
    try {
      fetched = session_.run(feeds, fetches, {what.targets.begin(), what.targets.end()}, options_);
    } catch (const error& e) {
      if (!what.error)
        throw;
      check(what.error->line, check_error(*what.error, status{e.kind(), e.what()}));
      return;
    }
    if (what.error)
      check(what.error->line,
            invalid("the run should have failed with ", to_string(what.error->kind)));
    for (size_t i = 0; i < fetched.size(); ++i)
      compare(what.fetches[i], fetched[i]);
  }

  bool all_as_promised() const noexcept { return as_promised_; }

private:
  void compare(const text_fetch& wanted, const tensor& actual) {
    std::cout << wanted.from << " = " << actual << '\n';
    std::string why;
    if (wanted.expected && !close_to(actual, *wanted.expected, wanted.tolerance, &why))
      check(wanted.line, invalid("'", wanted.from, "': ", why));
  }

  void check(int line, const status& outcome) {
    if (outcome)
      return;
    std::cerr << file_ << ':' << line << ": " << outcome.message() << '\n';
    as_promised_ = false;
  }

  std::string file_;
  session& session_;
  run_options options_;
  bool as_promised_ = true;
};

struct command_options {
  std::string file, cluster, trace;
  double timeout = 60;
  bool deterministic = false, trap_nonfinite = false, passes = true, dump = false;
};

/// Prints what a run becomes before it is placed, and, since here is one device, after it.
void print_optimized(const text_run& what, const graph& of, const pass_options& passes) {
  step_signature signature{.feeds = {}, .fetches = {}, .targets = what.targets};
  for (const auto& one : what.feeds)
    signature.feeds.push_back(one.to);
  for (const auto& one : what.fetches)
    signature.fetches.push_back(one.from);
  auto devices = make_devices(1);
  auto closed = value_or_throw(extract(of, signature));
  optimize(closed, passes, devices.front().get());
  partition whole{{"local", 0, "cpu", 0}, std::move(closed.nodes)};
  optimize(whole, passes);
  std::cout << "# the run at line " << what.line << " as it is executed\n"
            << describe(*whole.nodes);
}

bool run_file(const command_options& chosen) {
  graph_builder g;
  auto file = file_name(chosen.file);
  auto parsed = value_or_throw(parse_text_graph(content_of(chosen.file), file, g));
  session_options options{.deterministic = chosen.deterministic};
  if (!chosen.passes)
    options.passes = pass_options::none();
  auto s =
      chosen.cluster.empty() ? session::local(options) : session::connect(chosen.cluster, options);
  std::vector<step_statistics> steps;
  step_statistics step;
  runner all{file,
             s,
             {.timeout = std::chrono::milliseconds{static_cast<int64_t>(chosen.timeout * 1000)},
              .statistics = chosen.trace.empty() ? nullptr : &step,
              .trap_nonfinite = chosen.trap_nonfinite}};
  auto save = [&] {
    if (!chosen.trace.empty())
      throw_if_failed(write_trace(chosen.trace, steps));
  };
  for (const auto& one : parsed.runs) {
    if (chosen.dump && !one.error)
      print_optimized(one, g, options.passes);
    try {
      all.run(one);
    } catch (const error&) { // what it did before is worth seeing all the more
      steps.push_back(std::move(step));
      save();
      throw;
    }
    steps.push_back(std::exchange(step, {}));
  }
  save();
  return all.all_as_promised();
}

} // namespace

void add_run(CLI::App& to, int& exit_code) {
  auto chosen = std::make_shared<command_options>();
  auto* command = to.add_subcommand("run", "Run a text graph and print what it fetches");
  command->add_option("GRAPH", chosen->file, "A file as docs/text-graphs.md describes")->required();
  command->add_option("--cluster", chosen->cluster,
                      "File with the addresses of the tasks to run on; by default here");
  command->add_option("--timeout", chosen->timeout, "Seconds for each run")->capture_default_str();
  command->add_option("--trace", chosen->trace,
                      "Write what ran when to this file, for ui.perfetto.dev");
  command->add_flag("--trap-nonfinite", chosen->trap_nonfinite,
                    "Fail at the first node that makes a NaN or an infinity");
  command->add_flag("--deterministic", chosen->deterministic,
                    "Compute the same bits for any number of threads");
  command->add_flag("!--no-passes", chosen->passes,
                    "Run the graph as it was written (docs/passes.md)");
  command->add_flag("--dump", chosen->dump,
                    "Print what the passes make of the graph, for one device");
  command->callback([chosen, &exit_code] { exit_code = run_file(*chosen) ? 0 : 1; });
}

} // namespace troupe::cli
