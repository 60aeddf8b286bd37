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
  std::vector<named_text> found;
  const auto graphs = data_folder("graphs");
  for (const auto& entry : std::filesystem::recursive_directory_iterator{graphs})
    if (entry.path().extension() == ".txt") {
      std::ostringstream text;
      text << std::ifstream{entry.path()}.rdbuf();
      found.push_back({std::filesystem::relative(entry.path(), graphs), text.str()});
    }
  std::ranges::sort(found, {}, &named_text::name);
  return found;
}

std::vector<named_text> all_examples() {
  std::vector<named_text> found;
  for (const auto* op : library().ops())
    if (!op->example.empty())
      found.push_back({std::string{op->name} + ".example", std::string{op->example}});
  return found;
}

std::vector<named_text> all_examples_for_16_bits() {
  auto found = all_examples();
  std::erase_if(found, [](const named_text& one) { return one.name == "Qr.example"; });
  return found;
}

std::string complaints_about(client& in, const registry& ops, const std::vector<named_text>& cases,
                             const std::vector<std::string>& devices) {
  std::string all;
  size_t first = 0;
  for (const auto& one : cases) {
    text_case written{one.text, one.name};
    graph moved{ops};
    auto text = spread(written.text, *written.nodes, moved, devices, first++);
    for (const auto& run : text.runs) {
      auto deadline = step_clock::now() + std::chrono::seconds{20};
      auto outcome = [&]() -> result<std::vector<tensor>> {
        TROUPE_ASSIGN(auto step, in.prepare(moved, signature_of(run), deadline));
        return in.run(*step, feeds_of(run), deadline);
      }();
      if (auto why = complaint_about(run, outcome); !why.empty())
        all += concat(one.name, ": ", why, '\n');
    }
    if (auto cleared = in.reset("", step_clock::now() + std::chrono::seconds{20}); !cleared)
      all += concat(one.name, ": reset: ", cleared, '\n');
  }
  return all;
}

} // namespace troupe::test
