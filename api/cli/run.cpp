// troupe run: runs a text graph (docs/text-graphs.md) and compares what comes out.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/graph_builder.hpp"
#include "troupe/api/session.hpp"
#include "troupe/serialization/close_to.hpp"
#include "troupe/serialization/text_graph.hpp"

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
  runner(std::string file, session& in, std::chrono::milliseconds timeout)
      : file_(std::move(file)), session_(in), options_{.timeout = timeout} {}

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

bool run_file(const std::string& path, const std::string& cluster, double timeout) {
  graph_builder g;
  auto file = file_name(path);
  auto parsed = value_or_throw(parse_text_graph(content_of(path), file, g));
  auto s = cluster.empty() ? session::local() : session::connect(cluster);
  runner all{file, s, std::chrono::milliseconds{static_cast<int64_t>(timeout * 1000)}};
  for (const auto& one : parsed.runs)
    all.run(one);
  return all.all_as_promised();
}

} // namespace

void add_run(CLI::App& to, int& exit_code) {
  struct options {
    std::string file, cluster;
    double timeout = 60;
  };
  auto chosen = std::make_shared<options>();
  auto* command = to.add_subcommand("run", "Run a text graph and print what it fetches");
  command->add_option("GRAPH", chosen->file, "A file as docs/text-graphs.md describes")->required();
  command->add_option("--cluster", chosen->cluster,
                      "File with the addresses of the tasks to run on; by default here");
  command->add_option("--timeout", chosen->timeout, "Seconds for each run")->capture_default_str();
  command->callback([chosen, &exit_code] {
    exit_code = run_file(chosen->file, chosen->cluster, chosen->timeout) ? 0 : 1;
  });
}

} // namespace troupe::cli
