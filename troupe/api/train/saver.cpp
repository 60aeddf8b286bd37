#include "troupe/api/train/saver.hpp"

#include "troupe/api/layers/partitioned.hpp"
#include "troupe/api/ops.hpp"
#include "troupe/api/reject.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <future>
#include <map>

namespace troupe {
namespace {

std::vector<edge> variables_of(graph& of) {
  std::vector<edge> found;
  for (const auto& one : of.nodes())
    if (one->op().makes == resource::variable && !one->op().per_step)
      found.push_back({one.get(), 0});
  return found;
}

// A variable, and how it is written and assigned.
struct saved_variable {
  edge variable;
  std::string name; // in checkpoints: that of the whole, for a slice
  std::optional<manifest_slice> slice = {};
  edge value = {};
  node* assign = nullptr;
};

std::vector<int64_t> extents_of(const shape& dims) { return {dims.begin(), dims.end()}; }

} // namespace

struct saver::state {
  std::vector<saved_variable> all;
  checkpoint_folder folder;
  saver_options options;
  bool cleaned = false;
  std::future<status> writing;

  state(std::string path, const saver_options& with)
      : folder(real_files(), std::move(path)), options(with) {}

  void add(graph_builder& to, edge variable, location where) {
    saved_variable made{.variable = variable, .name = variable.node->name()};
    if (auto part = slice_of(variable_handle{variable})) {
      made.name = part->of;
      made.slice = manifest_slice{part->full, extents_of(part->first)};
    }
    auto type = variable.node->attr<dtype>("dtype");
    made.value = to.placeholder(type, {}, {}, where);
    made.assign = assign(variable, made.value, {.validate_shape = false}, {}, where).node;
    all.push_back(std::move(made));
  }

  std::vector<checkpoint_item> read(session& in, location where) const {
    std::vector<edge> wanted;
    for (const auto& one : all)
      wanted.push_back(one.variable);
    auto values = in.run({}, wanted, {}, {}, where);
    std::vector<checkpoint_item> items;
    for (size_t i = 0; i < all.size(); ++i)
      items.push_back({all[i].name, std::move(values[i]), all[i].slice});
    return items;
  }

  result<std::string> write(int64_t step, const std::vector<checkpoint_item>& items) {
    if (!std::exchange(cleaned, true))
      TROUPE_TRY(folder.clean());
    checkpoint_manifest about;
    about.step = step;
    about.made["by"] = concat("troupe ", library_version);
    TROUPE_ASSIGN(auto name, folder.save(std::move(about), items));
    if (auto kept = folder.retain({options.keep_newest, options.keep_every_steps}); !kept)
      return std::move(kept).within("saved, but an older checkpoint could not be removed");
    return folder.path_of(name);
  }

  status wait() { return writing.valid() ? writing.get() : status{}; }

  // What a checkpoint has for a variable, or what is wrong with it.
  result<tensor> value_for(const checkpoint_reader& from, const saved_variable& one,
                           restore_report& report) const {
    auto known = from.find(one.name);
    const auto& at = *one.variable.node;
    if (!known) {
      report.missing.push_back(at.name());
      return tensor{};
    }
    auto type = at.attr<dtype>("dtype");
    auto declared = at.attr<partial_shape>("shape");
    auto whole = one.slice ? partial_shape{one.slice->whole} : declared;
    if (known->first != type || !whole.compatible(known->second)) {
      report.unequal.push_back(concat(one.name, ": ", type, whole, " in the graph, ", known->first,
                                      known->second, " in the checkpoint"));
      return tensor{};
    }
    if (!one.slice)
      return from.read(one.name);
    return from.read_part(one.name, one.slice->offset, declared.known());
  }

  std::optional<restore_report> restore(session& in, bool partly, location where) {
    auto fail = [&](status why) {
      throw error{std::move(why).within(concat("restore (", to_string(where), ')'))};
    };
    if (auto written = wait(); !written)
      fail(written);
    auto name = folder.latest();
    if (!name && name.status().kind() == error_kind::not_found)
      return {};
    if (!name)
      fail(name.status());
    auto from = checkpoint_reader::open(real_files(), folder.path_of(*name));
    if (!from)
      fail(from.status());
    restore_report report{.step = from->manifest().step, .path = from->path()};
    std::vector<feed> feeds;
    std::vector<target> targets;
    for (const auto& one : all) {
      auto value = value_for(*from, one, report);
      if (!value)
        fail(value.status());
      if (value->empty())
        continue;
      feeds.push_back({one.value, *std::move(value)});
      targets.push_back(one.assign);
      report.restored.push_back(one.variable.node->name());
    }
    std::map<std::string_view, bool> extra;
    for (const auto& one : from->manifest().tensors)
      extra[one.name] = std::ranges::find(all, one.name, &saved_variable::name) == all.end();
    for (const auto& [tensor_name, is_extra] : extra)
      if (is_extra)
        report.extra.emplace_back(tensor_name);
    if (!partly && !(report.missing.empty() && report.unequal.empty())) {
      std::string text;
      for (const auto& one : report.missing)
        text += concat("\n  ", one, ": is not in the checkpoint");
      for (const auto& one : report.unequal)
        text += concat("\n  ", one);
      fail(failure(error_kind::failed_precondition, report.path,
                   ": does not fit the graph; restore_partly() takes what fits:", text));
    }
    if (!targets.empty())
      in.run(feeds, {}, targets, {}, where);
    return report;
  }
};

saver::saver(graph_builder& of, std::string folder, const saver_options& options, location where)
    : saver(of, variables_of(of), std::move(folder), options, where) {}

saver::saver(graph_builder& of, const std::vector<edge>& variables, std::string folder,
             const saver_options& options, location where)
    : state_(std::make_unique<state>(std::move(folder), options)) {
  if (variables.empty())
    reject("saver", where, "there are no variables to save");
  for (const auto& one : variables) {
    if (!one || one.node->op().makes != resource::variable)
      reject("saver", where, one ? one.node->description() : "an edge to nothing",
             " is no variable");
    state_->add(of, one, where);
  }
}

saver::saver(saver&&) noexcept = default;
saver& saver::operator=(saver&&) noexcept = default;
saver::~saver() = default; // the future of std::async waits

std::string saver::save(session& in, int64_t step, location where) {
  wait(where);
  auto path = state_->write(step, state_->read(in, where));
  if (!path)
    throw error{status{path.status()}.within(concat("save (", to_string(where), ')'))};
  return *std::move(path);
}

void saver::save_async(session& in, int64_t step, location where) {
  wait(where);
  state_->writing = std::async(
      std::launch::async, [of = state_.get(), step, items = state_->read(in, where)]() -> status {
        return of->write(step, items).status();
      });
}

void saver::wait(location where) {
  if (auto written = state_->wait(); !written)
    throw error{std::move(written).within(concat("save (", to_string(where), ')'))};
}

std::optional<int64_t> saver::latest_step(location where) const {
  auto name = state_->folder.latest();
  if (!name && name.status().kind() == error_kind::not_found)
    return {};
  auto manifest =
      name ? read_manifest(real_files(), path_in(state_->folder.path_of(*name), "manifest.json"))
           : result<checkpoint_manifest>{name.status()};
  if (!manifest)
    throw error{status{manifest.status()}.within(concat("latest_step (", to_string(where), ')'))};
  return manifest->step;
}

std::optional<restore_report> saver::restore(session& in, location where) {
  return state_->restore(in, false, where);
}

std::optional<restore_report> saver::restore_partly(session& in, location where) {
  return state_->restore(in, true, where);
}

} // namespace troupe
