#include "tests/simulate/script.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace troupe::simulate {
namespace {

struct kind_entry {
  std::string_view name;
  bool has_two, lasts;
};
constexpr kind_entry kinds[] = {{"crash", false, true},    {"replace", false, true},
                                {"pause", false, true},    {"partition", true, true},
                                {"stop", true, true},      {"loss", true, false},
                                {"shortage", false, true}, {"reopen", false, true}};

bool read_seconds(const std::string& word, std::chrono::nanoseconds& to) {
  double seconds = 0;
  auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  if (problem != std::errc{} || end != word.data() + word.size() || seconds < 0 || seconds > 3600)
    return false;
  to = std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>{seconds});
  return true;
}

} // namespace

result<scripted_fault> scripted_fault::parse(std::string_view text) {
  scripted_fault fault_read;
  fault_read.text = text;
  std::istringstream words{fault_read.text};
  std::string at, lasts, rest;
  auto fail = [&](const auto&... details) {
    return invalid("'", text,
                   "' is no event such as '12.5 partition worker:0 ps:1 for 3': ", details...);
  };
  words >> at >> fault_read.kind >> fault_read.first;
  const auto* kind = std::ranges::find(kinds, fault_read.kind, &kind_entry::name);
  if (kind == std::end(kinds))
    return fail("there is no fault '", fault_read.kind, "'");
  if (!read_seconds(at, fault_read.at))
    return fail("'", at, "' are no seconds");
  if (kind->has_two && !(words >> fault_read.second))
    return fail("a ", fault_read.kind, " has two processes");
  if (kind->lasts &&
      (!(words >> rest >> lasts) || rest != "for" || !read_seconds(lasts, fault_read.lasts)))
    return fail("for how many seconds?");
  if (fault_read.first.empty() || words >> rest)
    return fail("words are missing, or left over");
  return fault_read;
}

result<int> index_in(const layout& processes, std::string_view name) {
  auto colon = name.find(':');
  auto job = name.substr(0, colon);
  auto number = colon == name.npos ? std::string_view{} : name.substr(colon + 1);
  int index = 0;
  auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), index);
  auto count = job == "worker"   ? processes.workers
               : job == "ps"     ? processes.servers
               : job == "client" ? processes.clients
                                 : 0;
  if (problem != std::errc{} || end != number.data() + number.size() || index < 0 || index >= count)
    return invalid("'", name, "' is no process such as worker:0, ps:1 or client:0: there are ",
                   processes.workers, " workers, ", processes.servers, " ps and ",
                   processes.clients, " clients");
  return job == "worker" ? processes.worker(index)
         : job == "ps"   ? processes.server(index)
                         : processes.client(index);
}

} // namespace troupe::simulate
