#include "tests/graphs/all_cases.hpp"

#include "tests/support/data_folder.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/api/internal/library.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace troupe::test {

std::vector<named_text> all_cases() {
  std::vector<named_text> cases;
  const auto graphs = data_folder("graphs");
  for (const auto& entry : std::filesystem::recursive_directory_iterator{graphs})
    if (entry.path().extension() == ".txt") {
      std::ostringstream text;
      text << std::ifstream{entry.path()}.rdbuf();
      cases.push_back({std::filesystem::relative(entry.path(), graphs), text.str()});
    }
  std::ranges::sort(cases, {}, &named_text::name);
  return cases;
}

std::vector<named_text> all_examples() {
  std::vector<named_text> examples;
  for (const auto* op : library().ops())
    if (!op->example.empty())
      examples.push_back({std::string{op->name} + ".example", std::string{op->example}});
  return examples;
}

std::vector<named_text> all_examples_for_16_bits() {
  auto examples = all_examples();
  std::erase_if(examples, [](const named_text& example) { return example.name == "Qr.example"; });
  return examples;
}

std::string differences_of(client& session, const registry& ops,
                           const std::vector<named_text>& cases,
                           const std::vector<std::string>& devices) {
  std::string failures;
  size_t first = 0;
  for (const auto& stored : cases) {
    text_case written{stored.text, stored.name};
    graph moved{ops};
    auto text = spread(written.text, *written.nodes, moved, devices, first++);
    for (const auto& run : text.runs) {
      auto deadline = step_clock::now() + std::chrono::seconds{20};
      auto outcome = [&]() -> result<std::vector<tensor>> {
        TROUPE_ASSIGN(auto step, session.prepare(moved, signature_of(run), deadline));
        return session.run(*step, feeds_of(run), deadline);
      }();
      if (auto failure_text = difference_of(run, outcome); !failure_text.empty())
        failures += concat(stored.name, ": ", failure_text, '\n');
    }
    if (auto cleared = session.reset("", step_clock::now() + std::chrono::seconds{20}); !cleared)
      failures += concat(stored.name, ": reset: ", cleared, '\n');
  }
  return failures;
}

} // namespace troupe::test
