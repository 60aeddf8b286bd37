#include "troupe/api/train/checkpoint/saver.hpp"

#include "troupe/actors/base/random_id.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/partitioned.hpp"
#include "troupe/api/train/checkpoint/kept_state.hpp"
#include "troupe/api/train/checkpoint/saver_access.hpp"
#include "troupe/api/train/checkpoint/task_saving.hpp"
#include "troupe/runtime/version.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/checkpoint/tensor_files.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <set>

namespace troupe {
namespace {

// A variable, and how it is written and assigned.
struct saved_variable {
  edge variable;
  std::string name; // in checkpoints: that of the whole, for a slice
  std::optional<manifest_slice> slice = {};
  edge value = {};
  node* assign = nullptr;
};

// The graph as people see it: the same however often the program is started.
std::string digest_of(const graph& of) {
  checksum_stream sum;
  auto text = describe(of);
  sum.add(std::as_bytes(std::span{text}));
  return hex_text(sum.value());
}

std::string to_text(double number) {
  char digits[32];
  auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  return {digits, end};
}

// In a manifest's positions, before the names of nodes, and before those of notes.
constexpr std::string_view stream_key = "random/", note_key = "note/";
// Of what a manifest says for people.
constexpr std::string_view not_saved_key = "not saved";

// Where a node has run on several tasks, the stream that has come further counts.
void keep_further(std::string& kept, const std::string& position) {
  if (std::pair{position.size(), std::string_view{position}} >
      std::pair{kept.size(), std::string_view{kept}})
    kept = position;
}

std::map<std::string, std::string> positions_of(const checkpoint_manifest& manifest,
                                                std::string_view kind) {
  std::map<std::string, std::string> found;
  for (const auto& [key, position] : manifest.positions)
    if (key.starts_with(kind))
      found[key.substr(kind.size())] = position;
  return found;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const auto& one : names)
    text += concat(text.empty() ? "" : ", ", one);
  return text;
}

std::vector<int64_t> extents_of(const shape& dims) { return {dims.begin(), dims.end()}; }

} // namespace

struct saver::state {
  const graph* of;
  std::vector<saved_variable> all;
  std::vector<kept_value> kept;
  checkpoint_folder folder;
  saver_options options;
  std::optional<task_saving> tasks;
  std::function<std::map<std::string, std::string>()> notes;
  std::string digest, lost, not_kept; // of the graph
  uint64_t digested = 0;              // its version
  run_options each = {};              // of its steps
  bool cleaned = false, shared = false, told = false;
  bool whole = false;      // it saves all variables of the model
  std::source_location by; // made it
  std::shared_ptr<folder_lock> lock = {};
  saver_watch watch = {};
  bool dropped = false; // by the thread that wrote, for who waits for it
  bool refused = false; // the last attempt to save, as another writes to the folder
  std::future<status> writing;

  state(const graph& in, std::string path, const saver_options& with, location where)
      : of(&in), folder(real_files(), std::move(path)), options(with), by(where) {
    folder.end_drafts_with(concat("-", random_id()));
    folder.commit_within([this](const std::function<status()>& act) -> status {
      if (watch.may_be_seen && !watch.may_be_seen()) {
        dropped = true;
        return failure(error_kind::cancelled, folder.path(), ": the checkpoint was dropped");
      }
      return note_refusal(lock->while_held(act));
    });
  }

  status note_refusal(status outcome) {
    refused = outcome.kind() == error_kind::already_exists;
    return outcome;
  }

  // Fails where another process, or another saver of this one, writes to the folder.
  status begin_to_write() {
    refused = false;
    TROUPE_TRY(make_folder_durably(real_files(), folder.path()));
    if (lock)
      return note_refusal(lock->check());
    auto taken =
        saver_access::lock_folder(folder.path(), options, "saver", "saver_options::take_over", by);
    TROUPE_TRY(note_refusal(taken.status()));
    lock = *std::move(taken);
    cleaned = false; // another may have written meanwhile
    return {};
  }

  void add(graph_builder& to, edge variable, location where) {
    saved_variable made{.variable = variable, .name = variable.node->name()};
    if (auto part = slice_of(variable_handle{variable})) {
      made.name = part->of;
      made.slice = manifest_slice{part->full, extents_of(part->first)};
    }
    if (options.name_there) {
      made.name = options.name_there(made.name);
      auto is_taken = [&](const saved_variable& other) {
        return other.name == made.name && !(other.slice && made.slice);
      };
      if (std::ranges::any_of(all, is_taken))
        reject("saver", where, variable.node->description(), " would be saved as '", made.name,
               "', as another is");
    }
    auto type = variable.node->attr<dtype>("dtype");
    made.value = to.placeholder(type, {}, {}, where);
    made.assign = assign(variable, made.value, {.validate_shape = false}, {}, where).node;
    all.push_back(std::move(made));
  }

  void add_tasks(graph_builder& to, location where) {
    std::vector<task_saving::variable> variables;
    for (const auto& one : all)
      variables.push_back({one.variable, one.name, one.slice});
    tasks.emplace(to, variables, where);
  }

  // Once, before anything is saved or restored.
  status check_shared(session& in, location where) {
    if (!tasks || shared)
      return {};
    TROUPE_TRY(tasks->check_shared(in, folder.path(), each, where));
    shared = true;
    return {};
  }

  std::vector<edge> kept_edges() const {
    std::vector<edge> wanted;
    for (const auto& one : kept)
      wanted.push_back(one.value);
    return wanted;
  }

  std::vector<checkpoint_item> kept_items(std::vector<tensor> values) const {
    std::vector<checkpoint_item> items;
    for (size_t i = 0; i < kept.size(); ++i)
      items.push_back({kept[i].name, std::move(values[i])});
    return items;
  }

  std::vector<checkpoint_item> read(session& in, location where) const {
    std::vector<edge> wanted = kept_edges();
    for (const auto& one : all)
      wanted.push_back(one.variable);
    auto values = in.run({}, wanted, {}, each, where);
    auto items = kept_items(values);
    for (size_t i = 0; i < all.size(); ++i)
      items.push_back({all[i].name, std::move(values[kept.size() + i]), all[i].slice});
    return items;
  }

  checkpoint_manifest about(int64_t step, std::optional<double> metric) {
    checkpoint_manifest made;
    made.step = step;
    made.made["by"] = concat("troupe ", library_version);
    made.made[std::string{time_key}] =
        concat(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
    if (metric)
      made.made[std::string{metric_key}] = to_text(*metric);
    if (notes)
      for (auto& [key, text] : notes())
        made.positions[concat(note_key, key)] = text;
    made.graph_digest = graph_digest();
    if (!not_kept.empty())
      made.made[std::string{not_saved_key}] = not_kept;
    if (!lost.empty() && !std::exchange(told, true) && options.on_warning)
      options.on_warning(concat(folder.path(), ": checkpoints do not have ", lost));
    return made;
  }

  static void add_streams(session& in, checkpoint_manifest& to, location where) {
    for (const auto& one : in.positions(where)) {
      to.incarnations[one.task] = one.incarnation;
      for (const auto& [node, position] : one.at)
        keep_further(to.positions[concat(stream_key, node)], position);
    }
  }

  const std::string& graph_digest() {
    if (digest.empty() || digested != of->version()) {
      digest = digest_of(*of);
      auto found = state_not_kept(*of, kept);
      lost = listed(found.lost);
      found.lost.merge(found.of_step);
      not_kept = listed(found.lost);
      digested = of->version();
    }
    return digest;
  }

  // `save` writes a checkpoint and says its name.
  template <class Save>
  result<std::string> write(int64_t step, Save save) {
    if (!std::exchange(cleaned, true))
      TROUPE_TRY(folder.clean());
    auto saved = save();
    if (!saved) {
      // A process that has taken the folder over removes drafts, which looks like a disk's failure.
      if (auto held = note_refusal(lock->check()); refused)
        return held;
      return saved.status();
    }
    const auto& name = *saved;
    auto path = folder.path_of(name);
    if (watch.saved)
      watch.saved(step, path);
    auto removed = folder.retain({.newest = options.keep_newest,
                                  .every_steps = options.keep_every_steps,
                                  .every_hours = options.keep_every_hours,
                                  .best = options.keep_best,
                                  .lower_is_better = options.lower_is_better});
    if (!removed && options.on_warning)
      options.on_warning(
          concat(path, ": saved, but an older checkpoint was not removed: ", removed.message()));
    return path;
  }

  result<std::string> write_items(checkpoint_manifest what,
                                  const std::vector<checkpoint_item>& items) {
    auto format = options.format == saver_format::tensorflow ? checkpoint_format::tensorflow
                                                             : checkpoint_format::safetensors;
    auto step = what.step;
    return write(step, [&] { return folder.save(std::move(what), items, format); });
  }

  result<std::string> write_by_tasks(session& in, checkpoint_manifest what, location where) {
    auto step = what.step;
    return write(step, [&] {
      return folder.save(std::move(what), [&](const std::string& draft, checkpoint_manifest& to) {
        return tasks->write(
            in, draft, kept_edges(),
            [&](std::vector<tensor> values) { return kept_items(std::move(values)); }, to, each,
            where);
      });
    });
  }

  status wait() {
    auto written = writing.valid() ? writing.get() : status{};
    return std::exchange(dropped, false) ? status{} : written;
  }

  // Whether a checkpoint has a value for a variable; reports what is wrong with it.
  static bool fits(const checkpoint_reader& from, const saved_variable& one,
                   restore_report& report) {
    auto known = from.find(one.name);
    const auto& at = *one.variable.node;
    if (!known) {
      report.missing.push_back(at.name());
      return false;
    }
    auto type = at.attr<dtype>("dtype");
    auto declared = at.attr<partial_shape>("shape");
    auto whole = one.slice ? partial_shape{one.slice->whole} : declared;
    if (known->first == type && whole.compatible(known->second))
      return true;
    report.unequal.push_back(concat(one.name, ": ", type, whole, " in the graph, ", known->first,
                                    known->second, " in the checkpoint"));
    return false;
  }

  static result<tensor> value_for(const checkpoint_reader& from, const saved_variable& one) {
    if (!one.slice)
      return from.read(one.name);
    return from.read_part(one.name, one.slice->offset,
                          one.variable.node->attr<partial_shape>("shape").known());
  }

  // Whether tasks can read it, each what it holds.
  bool written_by_tasks(const checkpoint_reader& from) const {
    return tasks && std::ranges::all_of(from.manifest().tensors, [](const auto& one) {
             return one.file == concat(bundle_name, ".index");
           });
  }

  static status does_not_fit(const restore_report& report, std::string_view else_by,
                             error_kind unfit = error_kind::failed_precondition) {
    std::string text;
    for (const auto& one : report.missing)
      text += concat("\n  ", one, ": is not in the checkpoint");
    for (const auto& one : report.unequal)
      text += concat("\n  ", one);
    for (const auto& name : report.extra)
      text += concat("\n  ", name, ": is in the checkpoint, and not in the graph");
    return failure(unfit, report.path, ": does not fit the graph; ", else_by,
                   " takes what fits:", text);
  }

  // A variable's value, or its slice's, of a whole that others have saved.
  static result<tensor> fitting_part(const saved_variable& one, tensor whole,
                                     std::string& unequal) {
    const auto& at = *one.variable.node;
    auto type = at.attr<dtype>("dtype");
    auto wanted = one.slice ? partial_shape{one.slice->whole} : at.attr<partial_shape>("shape");
    if (whole.type() != type || !wanted.compatible(whole.dims())) {
      unequal = concat(at.name(), ": ", type, wanted, " in the graph, ", whole.type(), whole.dims(),
                       " in the checkpoint");
      return whole;
    }
    if (!one.slice)
      return whole;
    TROUPE_ASSIGN(auto part, tensor::make(type, at.attr<partial_shape>("shape").known()));
    const std::vector<int64_t> begin(static_cast<size_t>(whole.rank()), 0);
    copy_common(whole, begin, part, one.slice->offset);
    return part;
  }

  restore_report restore_from(session& in, const std::string& path, const import_options& how,
                              location where) {
    auto fail = [&](status why) {
      throw error{std::move(why).within(concat("restore_from (", to_string(where), ')'))};
    };
    auto from = tensor_files::open(real_files(), path);
    if (!from)
      fail(from.status());
    restore_report report{.path = from->path(), .same_graph = false};
    std::vector<feed> feeds;
    std::vector<target> targets;
    std::set<std::string> used;
    for (const auto& one : all) {
      auto there = how.name_there ? how.name_there(one.name) : one.name;
      if (there.empty())
        continue;
      used.insert(there);
      if (!from->find(there)) {
        report.missing.push_back(there == one.name ? there
                                                   : concat(one.name, " ('", there, "' there)"));
        continue;
      }
      auto whole = from->read(there);
      if (!whole)
        fail(whole.status());
      std::string unequal;
      auto value = fitting_part(one, *std::move(whole), unequal);
      if (!value)
        fail(value.status());
      if (!unequal.empty()) {
        report.unequal.push_back(std::move(unequal));
        continue;
      }
      report.restored.push_back(one.variable.node->name());
      feeds.push_back({one.value, *std::move(value)});
      targets.push_back(one.assign);
    }
    for (const auto& one : from->tensors())
      if (!used.contains(one.name))
        report.extra.push_back(one.name);
    if (!how.partly && !(report.missing.empty() && report.unequal.empty()))
      fail(does_not_fit(report, "import_options.partly"));
    if (!targets.empty())
      in.run(feeds, {}, targets, each, where);
    return report;
  }

  // The names of local variables in checkpoints of versions that saved them.
  std::set<std::string> local_names() const {
    std::set<std::string> names;
    for (const auto& variable : of->nodes())
      if (detail::is_local_variable(*variable))
        names.insert(options.name_there ? options.name_there(variable->name()) : variable->name());
    return names;
  }

  result<std::optional<std::string>> name_to_restore(bool best) const {
    if (best) {
      TROUPE_ASSIGN(auto checkpoint, folder.best(options.lower_is_better));
      return checkpoint ? std::optional{checkpoint->name} : std::nullopt;
    }
    TROUPE_ASSIGN(auto latest, folder.latest());
    return std::optional{std::move(latest)};
  }

  struct which_checkpoint {
    bool best = false;
    bool partly = false;
    std::string_view or_partly = "restore_partly()";
    error_kind unfit = error_kind::failed_precondition;
  };

  std::optional<restore_report> restore(session& in, const which_checkpoint& how, location where) {
    auto fail = [&](status why) {
      throw error{std::move(why).within(concat("restore (", to_string(where), ')'))};
    };
    if (auto written = wait(); !written)
      fail(written);
    if (auto seen = check_shared(in, where); !seen)
      fail(seen);
    auto named = name_to_restore(how.best);
    if ((!named && named.status().kind() == error_kind::not_found) || (named && !*named))
      return {};
    if (!named)
      fail(named.status());
    const auto& name = *named;
    auto from = checkpoint_reader::open(real_files(), folder.path_of(*name));
    if (!from)
      fail(from.status());
    const auto& manifest = from->manifest();
    restore_report report{.step = manifest.step, .path = from->path()};
    report.same_graph = manifest.graph_digest.empty() || manifest.graph_digest == graph_digest();
    report.notes = positions_of(manifest, note_key);
    if (auto known = manifest.made.find(std::string{not_saved_key}); known != manifest.made.end())
      report.not_saved = known->second;
    std::vector<const saved_variable*> found;
    for (const auto& one : all)
      if (fits(*from, one, report))
        found.push_back(&one);
    std::vector<feed> feeds;
    std::vector<target> targets;
    auto need_not_be_there = ptrdiff_t{0}; // of those that are missing
    for (const auto& one : kept) {
      if (!from->find(one.name)) {
        need_not_be_there += one.may_be_missing;
        report.missing.push_back(one.name);
        continue;
      }
      auto value = from->read(one.name);
      if (!value)
        fail(value.status());
      feeds.push_back({one.placeholder, *std::move(value)});
      targets.push_back(one.restored);
      report.restored.push_back(one.name);
    }
    auto by_tasks = found.size() == all.size() && written_by_tasks(*from);
    for (const auto* one : found) {
      report.restored.push_back(one->variable.node->name());
      if (by_tasks)
        continue;
      auto value = value_for(*from, *one);
      if (!value)
        fail(value.status());
      feeds.push_back({one->value, *std::move(value)});
      targets.push_back(one->assign);
    }
    std::map<std::string_view, bool> extra;
    const auto local = local_names();
    for (const auto& one : from->manifest().tensors)
      extra[one.name] = std::ranges::find(all, one.name, &saved_variable::name) == all.end() &&
                        std::ranges::find(kept, one.name, &kept_value::name) == kept.end() &&
                        !local.contains(one.name);
    for (const auto& [tensor_name, is_extra] : extra)
      if (is_extra)
        report.extra.emplace_back(tensor_name);
    if (!how.partly && (std::ssize(report.missing) > need_not_be_there || !report.unequal.empty()))
      fail(does_not_fit(report, how.or_partly, how.unfit));
    if (by_tasks)
      tasks->restore(in, from->path(), each, where);
    if (whole)
      std::ranges::copy(detail::local_initializers(*of), std::back_inserter(targets));
    if (!targets.empty())
      in.run(feeds, {}, targets, each, where);
    in.go_on_from(positions_of(manifest, stream_key), where);
    return report;
  }
};

saver::saver(graph_builder& of, std::string folder, const saver_options& options, location where)
    : saver(of, detail::model_variables(of), std::move(folder), options, where) {
  state_->whole = true;
}

saver::saver(graph_builder& of, const std::vector<edge>& variables, std::string folder,
             const saver_options& options, location where)
    : state_(std::make_unique<state>(
          of,
          options.by_tasks ? std::filesystem::absolute(folder).lexically_normal().string()
                           : std::move(folder),
          options, where)) {
  if (variables.empty())
    reject("saver", where, "there are no variables to save");
  for (const auto& one : variables) {
    if (one.is_nothing() || one.node->op().makes != resource::variable)
      reject("saver", where, one ? one.node->description() : "an edge to nothing",
             " is no variable");
    state_->add(of, one, where);
  }
  if (options.by_tasks)
    state_->add_tasks(of, where);
  if (options.all_state)
    state_->kept = add_kept_state(of, where);
}

void saver::also_note(std::function<std::map<std::string, std::string>()> now) {
  need_state("also_note", location::current(), state_ != nullptr, "saver");
  state_->notes = std::move(now);
}

void saver::limit_steps(std::chrono::milliseconds to, location where) {
  need_state("limit_steps", where, state_ != nullptr, "saver");
  if (auto may = check_duration("the limit", to); !may)
    throw error{std::move(may).within(concat("limit_steps (", to_string(where), ')'))};
  state_->each.timeout = to;
}

void saver::also_keep(std::string name, edge value, edge placeholder, node* restored,
                      location where) {
  need_state("also_keep", where, state_ != nullptr, "saver");
  if (value.is_nothing() || placeholder.is_nothing() || !restored)
    reject("also_keep", where, "'", name, "' needs a value, a placeholder and a node to run");
  if (std::ranges::find(state_->all, name, &saved_variable::name) != state_->all.end() ||
      std::ranges::find(state_->kept, name, &kept_value::name) != state_->kept.end())
    reject("also_keep", where, "'", name, "' is saved already");
  state_->kept.push_back({std::move(name), value, placeholder, restored});
  state_->digest.clear(); // what is not kept is to be found anew
}

saver::saver(saver&&) noexcept = default;
saver& saver::operator=(saver&&) noexcept = default;
saver::~saver() = default; // the future of std::async waits

std::string saver::save(session& in, int64_t step, location where) {
  return save_with(in, step, {}, where);
}

std::string saver::save(session& in, int64_t step, double metric, location where) {
  return save_with(in, step, metric, where);
}

void saver::save_async(session& in, int64_t step, location where) {
  save_async_with(in, step, {}, where);
}

void saver::save_async(session& in, int64_t step, double metric, location where) {
  save_async_with(in, step, metric, where);
}

std::string saver::save_with(session& in, int64_t step, std::optional<double> metric,
                             location where) {
  wait(where);
  auto outcome = [&]() -> result<std::string> {
    TROUPE_TRY(state_->begin_to_write());
    auto about = state_->about(step, metric);
    state::add_streams(in, about, where);
    if (!state_->tasks)
      return state_->write_items(std::move(about), state_->read(in, where));
    TROUPE_TRY(state_->check_shared(in, where));
    return state_->write_by_tasks(in, std::move(about), where);
  }();
  if (!outcome)
    throw error{status{outcome.status()}.within(concat("save (", to_string(where), ')'))};
  return *std::move(outcome);
}

void saver::save_async_with(session& in, int64_t step, std::optional<double> metric,
                            location where) {
  wait(where);
  auto* of = state_.get();
  if (auto held = of->begin_to_write(); of->refused || (of->tasks && !held)) {
    throw error{std::move(held).within(concat("save_async (", to_string(where), ')'))};
  } else if (!held) { // which is told as what fails while it is written
    std::promise<status> failed;
    failed.set_value(std::move(held));
    of->writing = failed.get_future();
    return;
  }
  auto about = of->about(step, metric);
  if (of->options.exact_streams)
    state::add_streams(in, about, where);
  if (of->tasks)
    if (auto seen = of->check_shared(in, where); !seen)
      throw error{std::move(seen).within(concat("save_async (", to_string(where), ')'))};
  auto items = of->tasks ? std::vector<checkpoint_item>{} : of->read(in, where);
  if (of->watch.begun)
    of->watch.begun(step);
  of->writing =
      std::async(std::launch::async, [=, &in, about = std::move(about)]() mutable -> status {
        try {
          if (!of->options.exact_streams)
            state::add_streams(in, about, where);
        } catch (const error& why) {
          return failure(why.kind(), why.what());
        }
        return of->tasks ? of->write_by_tasks(in, std::move(about), where).status()
                         : of->write_items(std::move(about), items).status();
      });
}

bool saver::is_writing() const {
  if (!state_)
    return false;
  const auto& writing = state_->writing;
  return writing.valid() && writing.wait_for(std::chrono::seconds{0}) != std::future_status::ready;
}

void saver::wait(location where) {
  need_state("wait", where, state_ != nullptr, "saver");
  if (auto written = state_->wait(); !written)
    throw error{std::move(written).within(concat("save (", to_string(where), ')'))};
}

std::optional<int64_t> saver::latest_step(location where) const {
  need_state("latest_step", where, state_ != nullptr, "saver");
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
  need_state("restore", where, state_ != nullptr, "saver");
  return state_->restore(in, {}, where);
}

std::optional<restore_report> saver::restore_best(session& in, location where) {
  need_state("restore_best", where, state_ != nullptr, "saver");
  return state_->restore(in, {.best = true}, where);
}

std::vector<saved_checkpoint> saver::list(location where) const {
  need_state("list", where, state_ != nullptr, "saver");
  const auto& folder = state_->folder;
  auto listed = [&]() -> result<std::vector<saved_checkpoint>> {
    auto complete = folder.list();
    if (!complete && complete.status().kind() == error_kind::not_found)
      return std::vector<saved_checkpoint>{};
    TROUPE_TRY(complete.status());
    auto latest = folder.latest();
    std::vector<saved_checkpoint> checkpoints;
    for (const auto& checkpoint : *complete) {
      saved_checkpoint about{.path = folder.path_of(checkpoint.name),
                             .step = checkpoint.step,
                             .is_latest = latest && *latest == checkpoint.name};
      TROUPE_ASSIGN(about.metric, folder.number_of(checkpoint, metric_key));
      TROUPE_ASSIGN(auto seconds, folder.number_of(checkpoint, time_key));
      about.time += std::chrono::seconds{static_cast<int64_t>(seconds.value_or(0))};
      checkpoints.push_back(std::move(about));
    }
    return checkpoints;
  }();
  if (!listed)
    throw error{status{listed.status()}.within(concat("list (", to_string(where), ')'))};
  return *std::move(listed);
}

restore_report saver::restore_from(session& in, const std::string& path,
                                   const import_options& options, location where) {
  need_state("restore_from", where, state_ != nullptr, "saver");
  return state_->restore_from(in, path, options, where);
}

std::optional<restore_report> saver::restore_partly(session& in, location where) {
  need_state("restore_partly", where, state_ != nullptr, "saver");
  return state_->restore(in, {.partly = true}, where);
}

// -- saver_access ---------------------------------------------------------------------------------

result<std::shared_ptr<folder_lock>>
saver_access::lock_folder(const std::string& folder, const saver_options& options,
                          std::string_view by, std::string_view take_over, location where) {
  return folder_lock::take(folder, {.writes = "checkpoints",
                                    .by = concat(by, " (", to_string(where), ')'),
                                    .take_over = options.take_over,
                                    .how_to_take_over = concat("set ", take_over)});
}

void saver_access::use_lock(saver& by, std::shared_ptr<folder_lock> lock) {
  auto& mine = *by.state_;
  mine.cleaned = mine.cleaned && mine.lock == lock; // else another may have written meanwhile
  mine.lock = std::move(lock);
}

bool saver_access::is_refused(const saver& by) { return by.state_->refused; }

void saver_access::watch(saver& by, saver_watch with) { by.state_->watch = std::move(with); }

std::optional<restore_report> saver_access::restore(saver& by, session& in, bool partly,
                                                    std::string_view or_partly, error_kind unfit,
                                                    location where) {
  return by.state_->restore(in, {.partly = partly, .or_partly = or_partly, .unfit = unfit}, where);
}

} // namespace troupe
