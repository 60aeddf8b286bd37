// troupe events: what event files for TensorBoard hold.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/runtime/insight/log_event.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

// Tags come from files: they are printed as one word without control characters.
std::string printable(std::string_view text) {
  std::string made;
  for (auto c : text)
    if (auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f)
      made += '?';
    else
      made += c;
  return made;
}

std::string text_of_seconds(double seconds) {
  constexpr double most = 4e9; // of this and the next century
  if (!std::isfinite(seconds) || std::abs(seconds) > most)
    return concat(seconds);
  return time_text(std::chrono::system_clock::time_point{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::duration<double>{seconds})});
}

struct value_text {
  std::string operator()(std::monostate) const { return "a value of a kind that is not shown"; }
  std::string operator()(float value) const { return concat(value); }
  std::string operator()(const histogram& of) const {
    return concat("histogram of ", of.count, " values from ", of.min, " to ", of.max, ", mean ",
                  of.count > 0 ? of.sum / of.count : 0.0);
  }
  std::string operator()(const event_image& of) const {
    return concat("image of ", of.width, " by ", of.height, ", ", of.channels, " channels, ",
                  of.png.size(), " bytes");
  }
};

void show_event(const event& what) {
  auto line = [&](std::string_view tag, const std::string& text) {
    std::cout << what.step << "  " << text_of_seconds(what.seconds) << "  " << tag << "  " << text
              << '\n';
  };
  for (const auto& each : what.values)
    line(printable(each.tag), std::visit(value_text{}, each.value));
  if (!what.graph_def.empty())
    line("-", concat("graph of ", what.graph_def.size(), " bytes"));
  if (!what.file_version.empty())
    line("-", concat("file of version ", printable(what.file_version)));
  if (what.values.empty() && what.graph_def.empty() && what.file_version.empty())
    line("-", "an event of a kind that is not shown");
}

void show_file(const std::string& path) {
  auto records = value_or_throw(open_tfrecord(real_files(), path));
  std::string record;
  for (;;) {
    auto at = records->position();
    if (!value_or_throw(records->next(record)))
      return;
    auto what = parse_event(record);
    if (!what)
      throw error{what.status().within(concat(path, ": at byte ", at.substr(0, at.find(' '))))};
    show_event(*what);
  }
}

// Of a run, whose files lie in one folder in the order of their names.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& each : value_or_throw(real_files().list(folder)))
    if (!each.folder && each.name.find("tfevents") != std::string::npos)
      found.push_back(path_in(folder, each.name));
  if (found.empty())
    throw error{failure(error_kind::not_found, folder,
                        ": has no event files (events.out.tfevents.*); name a file, or the folder "
                        "in which a run has written its summaries")};
  return found;
}

void show_events(const std::string& path) {
  if (!value_or_throw(real_files().inspect(path)).folder)
    return show_file(path);
  auto files = files_in(path);
  for (const auto& each : files) {
    if (files.size() > 1)
      std::cout << "# " << printable(name_of_file(each)) << '\n';
    show_file(each);
  }
}

} // namespace

void add_events(CLI::App& to) {
  auto path = std::make_shared<std::string>();
  auto* command = to.add_subcommand("events", "Event files for TensorBoard, which runs write");
  command->require_subcommand(1);
  auto* showing = command->add_subcommand(
      "show", "Print step, time, tag and value of each scalar, and a line for all else");
  showing->add_option("PATH", *path, "An event file, or the folder with those of a run")
      ->required();
  showing->callback([path] { show_events(*path); });
}

} // namespace troupe::cli
