// troupe run: runs a text graph (docs/text-graphs.md) and checks its expected results, or runs the
// parts of any graph that the command line selects.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/model_arguments.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/npy.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/serialization/reports/region_report.hpp"
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

  void run(const run_plan& plan) {
    const auto& text = plan.run;
    std::vector<feed> feeds;
    for (const auto& fed : text.feeds)
      feeds.emplace_back(fed.fed_edge, fed.value);
    std::vector<edge> fetches;
    for (const auto& fetch : text.fetches)
      fetches.push_back(fetch.fetched_edge);
    std::vector<tensor> fetched;
    try {
      fetched = session_.run(feeds, fetches, {text.targets.begin(), text.targets.end()}, options_,
                             no_line);
    } catch (const error& cause) {
      if (!text.error)
        throw;
      check(text.error->line, check_error(*text.error, status{cause.kind(), cause.what()}));
      return;
    }
    if (text.error)
      check(text.error->line,
            invalid("the run should have failed with ", to_string(text.error->kind)));
    for (size_t i = 0; i < fetched.size(); ++i)
      if (plan.names.empty())
        compare(text.fetches[i], fetched[i]);
      else
        print_or_save(plan.names[i], plan.files[i], fetched[i]);
  }

  bool all_as_expected() const noexcept { return as_expected_; }

private:
  void compare(const text_fetch& fetch, const tensor& actual) {
    std::cout << fetch.fetched_edge << " = " << actual << '\n';
    std::string difference;
    if (fetch.expected && !close_to(actual, *fetch.expected, fetch.tolerance, &difference))
      check(fetch.line, invalid("'", fetch.fetched_edge, "': ", difference));
  }

  static void print_or_save(const std::string& name, const std::string& file, const tensor& value) {
    if (file.empty())
      std::cout << printable(name) << " = " << value << '\n';
    else
      save_npy(file, value);
  }

  void check(int line, const status& outcome) {
    if (outcome)
      return;
    std::cerr << file_ << ':' << line << ": " << outcome.message() << '\n';
    as_expected_ = false;
  }

  std::string file_;
  session& session_;
  run_options options_;
  bool as_expected_ = true;
};

struct command_options {
  std::string file, cluster, trace, regions, mixed_precision = "none", swap = "off";
  security_options security;
  double timeout = 60;
  int gpus = 0;
  size_t gpu_memory_limit = 0, gpu_memory_reserve = 0;
  bool deterministic = false, check_numerics = false, passes = true, dump = false;
  bool explain_placement = false, soft_placement = false, late_receives = false;
  std::string placement = "first-worker";
  run_arguments selection;
  model_arguments model;
};

/// Reads the graph, and plans its runs.
std::vector<run_plan> load(const command_options& options, graph_builder& builder) {
  auto has_suffix = [&](std::string_view suffix) { return options.file.ends_with(suffix); };
  if (is_saved_model(options.file))
    return runs_of_model(options.file, options.model, options.selection, builder);
  if (!options.model.signature.empty() || !options.model.tags.empty())
    throw error{invalid(options.file,
                        ": --signature and --tags select parts of a SavedModel, which is "
                        "a folder; this is not one")};
  if (has_suffix(".pb") || has_suffix(".pbtxt") || has_suffix(".meta"))
    return runs_of(
        options.selection,
        import_graph_def(builder, options.file, {.wanted = wanted_names(options.selection)}),
        builder);
  auto content = value_or_throw(read_file(options.file));
  if (is_binary(content)) // a GraphDef with another suffix
    return runs_of(
        options.selection,
        import_graph_def(builder, options.file, {.wanted = wanted_names(options.selection)}),
        builder);
  auto parsed = value_or_throw(parse_text_graph(content, file_name(options.file), builder));
  if (options.selection.selects_anything())
    return runs_of(options.selection, graph_import{imported_graph{builder, ""}}, builder);
  std::vector<run_plan> runs;
  for (auto& text : parsed.runs)
    runs.push_back({std::move(text)});
  return runs;
}

/// Prints the optimized graph of a run before placement and, for the only device, after it.
void print_optimized(const text_run& run, const graph& model, const pass_options& passes) {
  step_signature signature{.feeds = {}, .fetches = {}, .targets = run.targets};
  for (const auto& fed : run.feeds)
    signature.feeds.push_back(fed.fed_edge);
  for (const auto& fetch : run.fetches)
    signature.fetches.push_back(fetch.fetched_edge);
  auto devices = value_or_throw(make_devices({.intra_op_threads = 1, .gpus = 0}));
  auto extracted = value_or_throw(extract(model, signature));
  throw_if_failed(optimize(extracted, passes, devices.front().get()));
  partition device_part{{"local", 0, "cpu", 0}, std::move(extracted.nodes)};
  throw_if_failed(optimize(device_part, passes));
  std::cout << "# the run at line " << run.line << " as it is executed\n"
            << describe(*device_part.nodes);
}

/// Prints the placement of a run's nodes with the reasons, for the session's devices.
void print_placement(const text_run& run, session& in) {
  std::vector<edge> feeds, fetches;
  for (const auto& fed : run.feeds)
    feeds.push_back(fed.fed_edge);
  for (const auto& fetch : run.fetches)
    fetches.push_back(fetch.fetched_edge);
  auto report =
      in.explain_placement(feeds, fetches, {run.targets.begin(), run.targets.end()}, no_line);
  std::cout << "# the run at line " << run.line << '\n' << to_string(report);
}

void print_regions(const text_run& run, const step_statistics& step) {
  std::cout << "# the run" << (run.line > 0 ? concat(" at line ", run.line) : std::string{}) << '\n'
            << region_report(step);
}

session_options session_options_of(const command_options& arguments) {
  session_options options{
      .memory = {.gpu_limit = arguments.gpu_memory_limit,
                 .gpu_reserve = arguments.gpu_memory_reserve},
      .gpu = {.count = arguments.gpus},
      .cluster = {.tls = arguments.security.tls, .insecure = arguments.security.insecure},
      .deterministic = arguments.deterministic,
      .on_warning = [](const std::string& text) { std::cerr << concat("troupe: ", text, '\n'); }};
  options.insight.region_per_node = arguments.regions == "node";
  if (!arguments.passes)
    options.passes = pass_options::none();
  if (arguments.placement == "greedy")
    options.placement.strategy = placement_strategy::greedy;
  options.placement.soft = arguments.soft_placement;
  if (arguments.late_receives)
    options.placement.receives = recv_schedule::late;
  if (arguments.mixed_precision != "none")
    options.passes.mixed_precision = *dtype_from(arguments.mixed_precision);
  if (arguments.swap != "off")
    options.passes.swap.mode = arguments.swap == "on" ? swap_mode::on : swap_mode::automatic;
  return options;
}

bool run_file(command_options arguments) {
  arguments.file = folder_of_model(arguments.file);
  if (is_saved_model(arguments.file) && !arguments.selection.selects_anything() &&
      arguments.model.signature.empty()) {
    std::cout << list_signatures(arguments.file);
    return true;
  }
  graph_builder g;
  auto runs = load(arguments, g);
  auto options = session_options_of(arguments);
  auto s = arguments.cluster.empty() ? session::local(options, no_line)
                                     : session::connect(arguments.cluster, options, no_line);
  std::vector<step_statistics> steps;
  step_statistics step;
  runner file_runner{
      file_name(arguments.file),
      s,
      {.timeout = std::chrono::milliseconds{static_cast<int64_t>(arguments.timeout * 1000)},
       .statistics = arguments.trace.empty() && arguments.regions.empty() ? nullptr : &step,
       .check_numerics = arguments.check_numerics}};
  auto save = [&] {
    if (!arguments.trace.empty())
      throw_if_failed(write_trace(arguments.trace, steps));
  };
  for (const auto& plan : runs) {
    if (arguments.explain_placement) {
      if (!plan.run.error)
        print_placement(plan.run, s);
      continue;
    }
    if (arguments.dump && !plan.run.error)
      print_optimized(plan.run, g, options.passes);
    try {
      file_runner.run(plan);
    } catch (const error&) { // the trace of the steps so far is saved for diagnosis
      steps.push_back(std::move(step));
      save();
      throw;
    }
    if (!arguments.regions.empty() && !plan.run.error)
      print_regions(plan.run, step);
    steps.push_back(std::exchange(step, {}));
  }
  save();
  return file_runner.all_as_expected();
}

void add_selection_options(CLI::App& command, command_options& chosen) {
  auto add = [&](const char* name, std::vector<std::string>& words, const char* help) {
    command.add_option(name, words, help)->allow_extra_args(false);
  };
  add("--feed", chosen.selection.feeds, "NAME=VALUE or NAME=@FILE.npy, once for each input");
  add("--fetch", chosen.selection.fetches, "NAME or NAME:1, once for each result");
  add("--target", chosen.selection.targets,
      "NAME of a node to run for its effect, with the fetches");
  add("--init", chosen.selection.inits, "NAME of a node to run first, in a separate step");
  add("--save", chosen.selection.saves, "NAME=@FILE.npy: save a result instead of printing it");
  command.add_option("--signature", chosen.model.signature,
                     "The function of a SavedModel; --feed and --fetch take its names");
  command.add_option("--tags", chosen.model.tags,
                     "The graph of a SavedModel, such as serve,gpu; by default the only one");
  command.add_option("--out", chosen.selection.out, "Folder to save all results in, as NAME.npy");
}

void add_session_options(CLI::App& command, command_options& chosen) {
  command.add_option("--cluster", chosen.cluster,
                     std::string{"By default in this process. "} + session_help);
  add_security(command, chosen.security);
  command.add_option("--timeout", chosen.timeout, "Seconds for each run")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command.add_option("--gpus", chosen.gpus, "Number of GPUs of this machine; -1: all")
      ->capture_default_str();
  command
      .add_option("--gpu-memory-limit", chosen.gpu_memory_limit,
                  "Bytes of each GPU to use at most, such as 40GB; 0: nine tenths")
      ->transform(CLI::AsSizeValue{false});
  command
      .add_option("--gpu-memory-reserve", chosen.gpu_memory_reserve,
                  "Bytes of each GPU to allocate at the start; 0: on demand")
      ->transform(CLI::AsSizeValue{false});
  command.add_option("--trace", chosen.trace,
                     "Write a trace of the run to this file, for ui.perfetto.dev");
}

void add_graph_options(CLI::App& command, command_options& chosen) {
  command.add_flag("--check-numerics", chosen.check_numerics,
                   "Fail at the first node that produces a NaN or an infinity");
  command.add_flag("--deterministic", chosen.deterministic,
                   "Compute the same bits for any number of threads");
  command.add_flag("!--no-passes", chosen.passes,
                   "Run the graph as it was written (docs/passes.md)");
  command
      .add_option("--mixed-precision", chosen.mixed_precision,
                  "Compute matrix products and convolutions in 16 bits (docs/mixed-precision.md)")
      ->check(CLI::IsMember({"none", "bf16", "f16"}))
      ->capture_default_str();
  command
      .add_option("--swap", chosen.swap,
                  "Move tensors of GPUs to the host's memory (docs/memory.md)")
      ->check(CLI::IsMember({"off", "auto", "on"}))
      ->capture_default_str();
  command.add_flag("--dump", chosen.dump, "Print the optimized graph, for one device");
  command
      .add_option("--placement", chosen.placement,
                  "Strategy for nodes that name no device (docs/placement.md)")
      ->check(CLI::IsMember({"first-worker", "greedy"}))
      ->capture_default_str();
  command.add_flag("--soft-placement", chosen.soft_placement,
                   "Run nodes that name a missing device on the most similar one");
  command.add_flag("--late-receives", chosen.late_receives,
                   "Request large tensors of other tasks only shortly before they are read");
  auto* explain =
      command.add_flag("--explain-placement", chosen.explain_placement,
                       "Print the device of each node and the reason, without running anything");
  command
      .add_option(
          "--regions", chosen.regions,
          "Print the regions of each run, which are its actors, and their messages. joined: "
          "regions join nodes; node: each node is an actor (docs/architecture.md)")
      ->check(CLI::IsMember({"joined", "node"}))
      ->excludes(explain);
}

} // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto chosen = std::make_shared<command_options>();
  auto* command = app.add_subcommand("run", "Run a graph and print what it fetches");
  command
      ->add_option("GRAPH", chosen->file,
                   "A text graph (docs/text-graphs.md), TensorFlow's .pb, .pbtxt or .meta, or the "
                   "folder of a SavedModel, whose signatures are listed if nothing is selected")
      ->required();
  add_selection_options(*command, *chosen);
  add_session_options(*command, *chosen);
  add_graph_options(*command, *chosen);
  command->callback([chosen, &exit_code] { exit_code = run_file(*chosen) ? 0 : 1; });
}

} // namespace troupe::cli
