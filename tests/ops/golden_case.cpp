#include "tests/ops/golden_case.hpp"

#include "tests/support/data_folder.hpp"
#include "tests/support/selected_ops.hpp"
#include "tests/support/unzip.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>

namespace troupe::test {
namespace {

// Takes a number in base 128 from the front.
size_t take_varint(std::string_view& bytes) {
  size_t value = 0;
  for (unsigned shift = 0; !bytes.empty() && shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<size_t>(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  throw std::runtime_error{"a file of golden cases is cut off"};
}

// Takes a length and that many bytes.
std::string_view take_sized(std::string_view& bytes) {
  auto size = take_varint(bytes);
  if (size > bytes.size())
    throw std::runtime_error{"a file of golden cases is cut off"};
  auto content = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return content;
}

// Calls body with "<stem>0", "<stem>1", ... for the nodes that exist; some may be omitted.
void for_each_numbered(const graph& nodes, std::string_view stem, size_t at_most,
                       const std::function<void(size_t, node&)>& body) {
  for (size_t i = 0; i < at_most; ++i)
    if (auto* numbered = nodes.find(concat(stem, i)))
      body(i, *numbered);
}

class case_runner {
public:
  case_runner(client& session, const graph& golden_graph)
      : client_(session), graph_(golden_graph), case_(*golden_graph.find("case")) {
    if (const auto* tolerance_node = graph_.find("tolerance"))
      tolerance_ = constant_value({const_cast<node*>(tolerance_node), 0})->data<double>()[0];
  }

  std::string failure_of_case() {
    std::vector<node*> starts;
    for_each_numbered(graph_, "init_", case_.inputs().size(),
                      [&](size_t, node& at) { starts.push_back(&at); });
    if (!starts.empty())
      if (auto started = run({}, starts); !started)
        return report(concat("variables: ", started.status()));
    auto refused = graph_.find("refused") != nullptr;
    if (refused)
      for (int i = 0; i < case_.outputs(); ++i)
        compared_.push_back({case_.output(i), {}});
    for_each_numbered(graph_, "expect_", static_cast<size_t>(case_.outputs()),
                      [&](size_t i, node& at) { compare(case_.output(static_cast<int>(i)), at); });
    auto mismatch = check(refused);
    for_each_numbered(graph_, "after_", case_.inputs().size(),
                      [&](size_t i, node& at) { compare(case_.inputs()[i], at); });
    return refused || compared_.empty() || !mismatch.empty() ? mismatch : check(false);
  }

private:
  struct comparison {
    edge actual;
    tensor expected;
  };

  void compare(edge actual, node& expected) {
    compared_.push_back({actual, *constant_value({&expected, 0})});
  }

  result<std::vector<tensor>> run(std::vector<edge> fetches, std::vector<node*> targets) {
    auto deadline = step_clock::now() + std::chrono::seconds{20};
    TROUPE_ASSIGN(auto step,
                  client_.prepare(graph_, {{}, std::move(fetches), std::move(targets)}, deadline));
    return client_.run(*step, {}, deadline);
  }

  // Runs the case, or the reads of its variables after it, and compares.
  std::string check(bool refused) {
    auto compared = std::exchange(compared_, {});
    std::vector<edge> fetches;
    for (const auto& pair : compared)
      fetches.push_back(pair.actual);
    auto outcome = run(fetches, case_ran_ ? std::vector<node*>{} : std::vector<node*>{&case_});
    case_ran_ = true;
    if (refused)
      return outcome ? report(outcome->empty() ? "must be refused"
                                               : concat("must be refused, gives ", (*outcome)[0]))
             : outcome.status().kind() == error_kind::internal ? report(concat(outcome.status()))
                                                               : "";
    if (!outcome)
      return report(concat(outcome.status()));
    for (size_t i = 0; i < compared.size(); ++i) {
      const auto& expected = compared[i].expected;
      const auto& actual = (*outcome)[i];
      std::string mismatch;
      auto tolerance = tolerance_.value_or(default_tolerance(expected.type()));
      if (!close_to(actual, expected, tolerance, &mismatch))
        return report(concat("'", compared[i].actual, "': ", mismatch, "\n  expected ", expected,
                             "\n  actual   ", actual));
    }
    return "";
  }

  std::string report(const std::string& reason) const {
    auto text = concat(case_.op().name, '\n');
    for (const auto& [name, value] : case_.attrs())
      text += concat("  ", name, '=', value, '\n');
    for (size_t i = 0; i < case_.inputs().size(); ++i) {
      const auto* start = graph_.find(concat("start_", i));
      auto from = start ? edge{const_cast<node*>(start), 0} : case_.inputs()[i];
      if (const auto* value = constant_value(from))
        text += concat("  input ", i, start ? " (variable) " : " ", *value, '\n');
    }
    return text + "  " + reason;
  }

  client& client_;
  const graph& graph_;
  node& case_;
  std::vector<comparison> compared_;
  std::optional<double> tolerance_;
  bool case_ran_ = false;
};

} // namespace

std::string golden_case::op() const {
  // A GraphDef lists nodes as field 1; a node's name is its field 1, its op field 2.
  std::string_view rest = bytes;
  while (!rest.empty()) {
    if (auto tag = take_varint(rest); tag != (1 << 3 | 2)) {
      take_sized(rest); // `versions` and `library` have a length as well
      continue;
    }
    auto node = take_sized(rest);
    if (take_varint(node) == (1 << 3 | 2) && take_sized(node) == "case" &&
        take_varint(node) == (2 << 3 | 2))
      return std::string{take_sized(node)};
  }
  throw std::runtime_error{name + " has no node 'case'"};
}

std::vector<golden_case> golden_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{data_folder("ops/goldens/cases")})
    if (entry.path().extension() == ".gz")
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<golden_case> cases;
  for (const auto& path : files) {
    auto content = unzipped(path);
    auto family = path.stem().stem().string();
    std::string_view rest = content;
    for (int number = 1; !rest.empty(); ++number)
      if (golden_case next{concat(family, ' ', number), std::string{take_sized(rest)}};
          is_selected(next.op()))
        cases.push_back(std::move(next));
  }
  return cases;
}

std::string difference_of(client& session, const registry& ops, const golden_case& stored) {
  graph nodes{ops};
  auto imported = read_graph_def(std::as_bytes(std::span{stored.bytes}), nodes);
  if (!imported) {
    auto kind = imported.status().kind();
    auto refused = stored.bytes.find("refused") != std::string::npos && ops.find_op(stored.op());
    return refused && kind != error_kind::internal ? ""
                                                   : concat(stored.op(), ": ", imported.status());
  }
  auto failure_text = case_runner{session, nodes}.failure_of_case();
  auto cleared = session.reset("", step_clock::now() + std::chrono::seconds{20});
  return failure_text.empty() && !cleared ? concat(cleared) : failure_text;
}

} // namespace troupe::test
