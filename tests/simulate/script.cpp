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
  scripted_fault made;
  made.text = text;
  std::istringstream words{made.text};
  std::string at, lasts, rest;
  auto wrong = [&](const auto&... why) {
    return invalid("'", text,
                   "' is no event such as '12.5 partition worker:0 ps:1 for 3': ", why...);
  };
  words >> at >> made.kind >> made.first;
  const auto* kind = std::ranges::find(kinds, made.kind, &kind_entry::name);
  if (kind == std::end(kinds))
    return wrong("there is no fault '", made.kind, "'");
  if (!read_seconds(at, made.at))
    return wrong("'", at, "' are no seconds");
  if (kind->has_two && !(words >> made.second))
    return wrong("a ", made.kind, " has two processes");
  if (kind->lasts &&
      (!(words >> rest >> lasts) || rest != "for" || !read_seconds(lasts, made.lasts)))
    return wrong("for how many seconds?");
  if (made.first.empty() || words >> rest)
    return wrong("words are missing, or left over");
  return made;
}

result<int> index_in(const layout& of, std::string_view name) {
  auto colon = name.find(':');
  auto job = name.substr(0, colon);
  auto number = colon == name.npos ? std::string_view{} : name.substr(colon + 1);
  int which = 0;
  auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), which);
  auto count = job == "worker"   ? of.workers
               : job == "ps"     ? of.servers
               : job == "client" ? of.clients
                                 : 0;
  if (problem != std::errc{} || end != number.data() + number.size() || which < 0 || which >= count)
    return invalid("'", name, "' is no process such as worker:0, ps:1 or client:0: there are ",
                   of.workers, " workers, ", of.servers, " ps and ", of.clients, " clients");
  return job == "worker" ? of.worker(which) : job == "ps" ? of.server(which) : of.client(which);
}

} // namespace troupe::simulate
