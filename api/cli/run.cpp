// troupe run: runs a text graph (docs/text-graphs.md) and compares what comes out, or runs what the
// command line asks for of a graph of any format.
#include "troupe/api/cli/asked_model.hpp"
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/npy.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/serialization/reports/trace.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/storage/file_kind.hpp"
#include "troupe/serialization/text/close_to.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class runner {
public:
  runner(std::string file, session& in, const run_options& options)
      : file_(std::move(file)), session_(in), options_(options) {}

  void run(const asked_run& asked) {
    const auto& what = asked.run;
    std::vector<feed> feeds;
    for (const auto& one : what.feeds)
      feeds.emplace_back(one.to, one.value);
    std::vector<edge> fetches;
    for (const auto& one : what.fetches)
      fetches.push_back(one.from);
    std::vector<tensor> fetched;
    try {
      fetched = session_.run(feeds, fetches, {what.targets.begin(), what.targets.end()}, options_,
                             no_line);
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
      if (asked.names.empty())
        compare(what.fetches[i], fetched[i]);
      else
        tell(asked.names[i], asked.files[i], fetched[i]);
  }

  bool all_as_promised() const noexcept { return as_promised_; }

private:
  void compare(const text_fetch& wanted, const tensor& actual) {
    std::cout << wanted.from << " = " << actual << '\n';
    std::string why;
    if (wanted.expected && !close_to(actual, *wanted.expected, wanted.tolerance, &why))
      check(wanted.line, invalid("'", wanted.from, "': ", why));
  }

  static void tell(const std::string& name, const std::string& file, const tensor& value) {
    if (file.empty())
      std::cout << printable(name) << " = " << value << '\n';
    else
      save_npy(file, value);
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
  std::string file, cluster, trace, mixed_precision = "none", swap = "off";
  security_options security;
  double timeout = 60;
  int gpus = 0;
  size_t gpu_memory_limit = 0, gpu_memory_reserve = 0;
  bool deterministic = false, check_numerics = false, passes = true, dump = false;
  bool explain_placement = false, soft_placement = false, late_receives = false;
  std::string placement = "first-worker";
  asked what;
  asked_model model;
};

/// Reads the graph, and what to run of it.
std::vector<asked_run> load(const command_options& chosen, graph_builder& to) {
  auto is = [&](std::string_view suffix) { return chosen.file.ends_with(suffix); };
  if (is_saved_model(chosen.file))
    return runs_of_model(chosen.file, chosen.model, chosen.what, to);
  if (!chosen.model.signature.empty() || !chosen.model.tags.empty())
    throw error{invalid(chosen.file,
                        ": --signature and --tags choose within a SavedModel, which is "
                        "a folder; this is none")};
  if (is(".pb") || is(".pbtxt") || is(".meta"))
    return runs_of(chosen.what,
                   import_graph_def(to, chosen.file, {.wanted = wanted_names(chosen.what)}), to);
  auto content = value_or_throw(read_file(chosen.file));
  if (is_binary(content)) // it has no ending that tells
    return runs_of(chosen.what,
                   import_graph_def(to, chosen.file, {.wanted = wanted_names(chosen.what)}), to);
  auto parsed = value_or_throw(parse_text_graph(content, file_name(chosen.file), to));
  if (chosen.what.anything())
    return runs_of(chosen.what, graph_import{imported_graph{to, ""}}, to);
  std::vector<asked_run> runs;
  for (auto& each : parsed.runs)
    runs.push_back({std::move(each)});
  return runs;
}

void must(status outcome) {
  if (!outcome)
    throw error{std::move(outcome)};
}

/// Prints what a run becomes before it is placed, and, since here is one device, after it.
void print_optimized(const text_run& what, const graph& of, const pass_options& passes) {
  step_signature signature{.feeds = {}, .fetches = {}, .targets = what.targets};
  for (const auto& one : what.feeds)
    signature.feeds.push_back(one.to);
  for (const auto& one : what.fetches)
    signature.fetches.push_back(one.from);
  auto devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
  auto closed = value_or_throw(extract(of, signature));
  must(optimize(closed, passes, devices.front().get()));
  partition whole{{"local", 0, "cpu", 0}, std::move(closed.nodes)};
  must(optimize(whole, passes));
  std::cout << "# the run at line " << what.line << " as it is executed\n"
            << describe(*whole.nodes);
}

/// Prints where the nodes of a run go and why, for the session's devices.
void print_placement(const text_run& what, session& in) {
  std::vector<edge> feeds, fetches;
  for (const auto& one : what.feeds)
    feeds.push_back(one.to);
  for (const auto& one : what.fetches)
    fetches.push_back(one.from);
  auto report =
      in.explain_placement(feeds, fetches, {what.targets.begin(), what.targets.end()}, no_line);
  std::cout << "# the run at line " << what.line << '\n' << to_string(report);
}

bool run_file(command_options chosen) {
  chosen.file = folder_of_model(chosen.file);
  if (is_saved_model(chosen.file) && !chosen.what.anything() && chosen.model.signature.empty()) {
    std::cout << list_signatures(chosen.file);
    return true;
  }
  graph_builder g;
  auto runs = load(chosen, g);
  session_options options{
      .memory = {.gpu_limit = chosen.gpu_memory_limit, .gpu_reserve = chosen.gpu_memory_reserve},
      .gpu = {.count = chosen.gpus},
      .cluster = {.tls = chosen.security.tls, .insecure = chosen.security.insecure},
      .deterministic = chosen.deterministic,
      .on_warning = [](const std::string& text) { std::cerr << concat("troupe: ", text, '\n'); }};
  if (!chosen.passes)
    options.passes = pass_options::none();
  if (chosen.placement == "greedy")
    options.placement.strategy = placement_strategy::greedy;
  options.placement.soft = chosen.soft_placement;
  if (chosen.late_receives)
    options.placement.receives = recv_schedule::late;
  if (chosen.mixed_precision != "none")
    options.passes.mixed_precision = *dtype_from(chosen.mixed_precision);
  if (chosen.swap != "off")
    options.passes.swap.mode = chosen.swap == "on" ? swap_mode::on : swap_mode::automatic;
  auto s = chosen.cluster.empty() ? session::local(options, no_line)
                                  : session::connect(chosen.cluster, options, no_line);
  std::vector<step_statistics> steps;
  step_statistics step;
  runner all{file_name(chosen.file),
             s,
             {.timeout = std::chrono::milliseconds{static_cast<int64_t>(chosen.timeout * 1000)},
              .statistics = chosen.trace.empty() ? nullptr : &step,
              .check_numerics = chosen.check_numerics}};
  auto save = [&] {
    if (!chosen.trace.empty())
      throw_if_failed(write_trace(chosen.trace, steps));
  };
  for (const auto& one : runs) {
    if (chosen.explain_placement) {
      if (!one.run.error)
        print_placement(one.run, s);
      continue;
    }
    if (chosen.dump && !one.run.error)
      print_optimized(one.run, g, options.passes);
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
  auto* command = to.add_subcommand("run", "Run a graph and print what it fetches");
  command
      ->add_option("GRAPH", chosen->file,
                   "A text graph (docs/text-graphs.md), TensorFlow's .pb, .pbtxt or .meta, or the "
                   "folder of a SavedModel, whose signatures are listed where nothing is asked for")
      ->required();
  auto add = [&](const char* name, std::vector<std::string>& words, const char* help) {
    command->add_option(name, words, help)->allow_extra_args(false);
  };
  add("--feed", chosen->what.feeds, "NAME=VALUE or NAME=@FILE.npy, once for each input");
  add("--fetch", chosen->what.fetches, "NAME or NAME:1, once for each result");
  add("--target", chosen->what.targets, "NAME of a node to run for its effect, with the fetches");
  add("--init", chosen->what.inits, "NAME of a node to run before all that, as a step of its own");
  add("--save", chosen->what.saves, "NAME=@FILE.npy: save a result instead of printing it");
  command->add_option("--signature", chosen->model.signature,
                      "The function of a SavedModel; --feed and --fetch take its names");
  command->add_option("--tags", chosen->model.tags,
                      "The graph of a SavedModel, such as serve,gpu; by default the only one");
  command->add_option("--out", chosen->what.out, "Folder to save all results in, as NAME.npy");
  command->add_option("--cluster", chosen->cluster,
                      std::string{"By default here. "} + session_help);
  add_security(*command, chosen->security);
  command->add_option("--timeout", chosen->timeout, "Seconds for each run")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->add_option("--gpus", chosen->gpus, "Run on the first so many GPUs of here; -1: all")
      ->capture_default_str();
  command
      ->add_option("--gpu-memory-limit", chosen->gpu_memory_limit,
                   "Bytes of each GPU, such as 40GB; 0: nine tenths of it")
      ->transform(CLI::AsSizeValue{false});
  command
      ->add_option("--gpu-memory-reserve", chosen->gpu_memory_reserve,
                   "Bytes of each GPU that are taken at the start; 0: as they are needed")
      ->transform(CLI::AsSizeValue{false});
  command->add_option("--trace", chosen->trace,
                      "Write what ran when to this file, for ui.perfetto.dev");
  command->add_flag("--check-numerics", chosen->check_numerics,
                    "Fail at the first node that makes a NaN or an infinity");
  command->add_flag("--deterministic", chosen->deterministic,
                    "Compute the same bits for any number of threads");
  command->add_flag("!--no-passes", chosen->passes,
                    "Run the graph as it was written (docs/passes.md)");
  command
      ->add_option("--mixed-precision", chosen->mixed_precision,
                   "Compute products and the like in 16 bits (docs/mixed-precision.md)")
      ->check(CLI::IsMember({"none", "bf16", "f16"}))
      ->capture_default_str();
  command
      ->add_option("--swap", chosen->swap,
                   "Let tensors of GPUs wait in the host's memory (docs/memory.md)")
      ->check(CLI::IsMember({"off", "auto", "on"}))
      ->capture_default_str();
  command->add_flag("--dump", chosen->dump,
                    "Print what the passes make of the graph, for one device");
  command
      ->add_option("--placement", chosen->placement,
                   "How nodes that name no device get one (docs/placement.md)")
      ->check(CLI::IsMember({"first-worker", "greedy"}))
      ->capture_default_str();
  command->add_flag("--soft-placement", chosen->soft_placement,
                    "Run what asks for a device that is not there on the nearest that is");
  command->add_flag("--late-receives", chosen->late_receives,
                    "Send for large tensors of other tasks shortly before they are read");
  command->add_flag("--explain-placement", chosen->explain_placement,
                    "Print where each node would run and why, instead of running anything");
  command->callback([chosen, &exit_code] { exit_code = run_file(*chosen) ? 0 : 1; });
}

} // namespace troupe::cli
