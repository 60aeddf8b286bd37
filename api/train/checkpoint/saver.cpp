#include "troupe/api/train/checkpoint/saver.hpp"
// Writes and reads checkpoints of a graph's variables.

#include "troupe/actors/base/random_id.hpp"
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/durations.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/layers/partitioned.hpp"
#include "troupe/api/train/checkpoint/saved_resources.hpp"
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

// A variable, with the nodes that assign it.
struct saved_variable {
  edge variable;
  std::string name; // in checkpoints; for a slice, the name of the whole variable
  std::optional<manifest_slice> slice = {};
  edge value = {};
  node* assign = nullptr;
};

// Returns a digest of the graph's description, which is equal in each run of the program.
std::string digest_of(const graph& model) {
  checksum_stream sum;
  auto text = describe(model);
  sum.add(std::as_bytes(std::span{text}));
  return to_hex(sum.value());
}

std::string to_text(double number) {
  char digits[32];
  auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  return {digits, end};
}

// Prefixes of keys in a manifest's positions: for random streams and for notes.
constexpr std::string_view stream_key = "random/", note_key = "note/";
// Key of the manifest's text about state that is not saved.
constexpr std::string_view not_saved_key = "not saved";

// If a node has run on several tasks, keeps the position of the stream that has advanced most.
void keep_further(std::string& kept, const std::string& position) {
  if (std::pair{position.size(), std::string_view{position}} >
      std::pair{kept.size(), std::string_view{kept}})
    kept = position;
}

std::map<std::string, std::string> positions_of(const checkpoint_manifest& manifest,
                                                std::string_view kind) {
  std::map<std::string, std::string> positions;
  for (const auto& [key, position] : manifest.positions)
    if (key.starts_with(kind))
      positions[key.substr(kind.size())] = position;
  return positions;
}

std::string join_names(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += concat(text.empty() ? "" : ", ", name);
  return text;
}

std::vector<int64_t> extents_of(const shape& dims) { return {dims.begin(), dims.end()}; }

// Returns the value of a variable, or of its slice, from the value of a whole variable.
result<tensor> fitting_part(const saved_variable& saved, tensor whole_value, std::string& unequal) {
  const auto& variable_node = *saved.variable.node;
  auto type = variable_node.attr<dtype>("dtype");
  auto declared = saved.slice ? partial_shape{saved.slice->full_shape}
                              : variable_node.attr<partial_shape>("shape");
  if (whole_value.type() != type || !declared.compatible(whole_value.dims())) {
    unequal = concat(variable_node.name(), ": ", type, declared, " in the graph, ",
                     whole_value.type(), whole_value.dims(), " in the checkpoint");
    return whole_value;
  }
  if (!saved.slice)
    return whole_value;
  TROUPE_ASSIGN(auto part, tensor::make(type, variable_node.attr<partial_shape>("shape").known()));
  const std::vector<int64_t> begin(static_cast<size_t>(whole_value.rank()), 0);
  copy_overlap(whole_value, begin, part, saved.slice->offset);
  return part;
}

// The part of a step that assigns the values of a checkpoint.
struct restored_values {
  std::vector<feed> feeds;
  std::vector<target> targets;
};

// Returns a report of a checkpoint from which nothing is restored yet.
restore_report begin_report(const checkpoint_reader& from) {
  const auto& manifest = from.manifest();
  restore_report report{.step = manifest.step, .path = from.path()};
  report.notes = positions_of(manifest, note_key);
  if (auto entry = manifest.description.find(std::string{not_saved_key});
      entry != manifest.description.end())
    report.not_saved = entry->second;
  return report;
}

status read_saved_values(const checkpoint_reader& from, const std::vector<saved_value>& kept,
                         restored_values& values, restore_report& report) {
  for (const auto& item : kept) {
    if (!from.find(item.name)) {
      report.missing.push_back(item.name);
      continue;
    }
    TROUPE_ASSIGN(auto value, from.read(item.name));
    values.feeds.push_back({item.placeholder, std::move(value)});
    values.targets.push_back(item.restored);
    report.restored.push_back(item.name);
  }
  return {};
}

// Returns the names of tensors of a checkpoint that the graph does not have, in order.
std::vector<std::string> find_unexpected(const checkpoint_manifest& manifest,
                                         const std::vector<saved_variable>& variables,
                                         const std::vector<saved_value>& kept,
                                         const std::set<std::string>& local_variables) {
  std::set<std::string> unexpected;
  for (const auto& stored : manifest.tensors)
    if (std::ranges::find(variables, stored.name, &saved_variable::name) == variables.end() &&
        std::ranges::find(kept, stored.name, &saved_value::name) == kept.end() &&
        !local_variables.contains(stored.name))
      unexpected.insert(stored.name);
  return {unexpected.begin(), unexpected.end()};
}

} // namespace

struct saver::state {
  const graph* model;
  std::vector<saved_variable> variables;
  std::vector<saved_value> kept;
  checkpoint_folder folder;
  saver_options options;
  std::optional<task_saving> tasks;
  std::function<std::map<std::string, std::string>()> read_notes;
  std::string digest, lost, not_saved; // of the graph
  uint64_t digest_version = 0;         // version of the graph with this digest
  run_options step_options = {};       // for all steps of the saver
  bool cleaned = false, folder_checked = false, has_warned = false;
  bool saves_model = false;        // it saves all variables of the model
  std::source_location created_at; // line of the constructor's call
  std::shared_ptr<folder_lock> lock = {};
  saver_watch watch = {};
  bool dropped = false; // set by the writing thread, read by wait()
  bool refused = false; // the last attempt to save failed because another process or saver writes
                        // to the folder
  std::future<status> writing;

  state(const graph& in, std::string path, const saver_options& given_options, location where)
      : model(&in), folder(real_files(), std::move(path)), options(given_options),
        created_at(where) {
    folder.set_draft_suffix(concat("-", random_id()));
    folder.set_commit_guard([this](const std::function<status()>& commit) -> status {
      if (watch.may_publish && !watch.may_publish()) {
        dropped = true;
        return failure(error_kind::cancelled, folder.path(), ": the checkpoint was dropped");
      }
      return note_refusal(lock->while_held(commit));
    });
  }

  status note_refusal(status outcome) {
    refused = outcome.kind() == error_kind::already_exists;
    return outcome;
  }

  // Fails if another process, or another saver of this process, writes to the folder.
  status begin_to_write() {
    refused = false;
    TROUPE_TRY(make_folder_durably(real_files(), folder.path()));
    if (lock)
      return note_refusal(lock->check());
    auto new_lock = saver_access::lock_folder(folder.path(), options, "saver",
                                              "saver_options::take_over", created_at);
    TROUPE_TRY(note_refusal(new_lock.status()));
    lock = *std::move(new_lock);
    cleaned = false; // another process may have written meanwhile
    return {};
  }

  void add(graph_builder& to, edge variable, location where) {
    saved_variable saved{.variable = variable, .name = variable.node->name()};
    if (auto slice = slice_of(variable_handle{variable})) {
      saved.name = slice->variable_name;
      saved.slice = manifest_slice{slice->full, extents_of(slice->first)};
    }
    if (options.name_in_checkpoint) {
      saved.name = options.name_in_checkpoint(saved.name);
      auto is_taken = [&](const saved_variable& other) {
        return other.name == saved.name && !(other.slice && saved.slice);
      };
      if (std::ranges::any_of(variables, is_taken))
        reject("saver", where, variable.node->description(), " would be saved as '", saved.name,
               "', like another variable");
    }
    auto type = variable.node->attr<dtype>("dtype");
    saved.value = to.placeholder(type, {}, {}, where);
    saved.assign = assign(variable, saved.value, {.validate_shape = false}, {}, where).node;
    variables.push_back(std::move(saved));
  }

  void add_tasks(graph_builder& to, location where) {
    std::vector<task_saving::variable> saved_variables;
    for (const auto& saved : variables)
      saved_variables.push_back({saved.variable, saved.name, saved.slice});
    tasks.emplace(to, saved_variables, where);
  }

  // Runs once, before the first save or restore.
  status check_shared(session& in, location where) {
    if (!tasks || folder_checked)
      return {};
    TROUPE_TRY(tasks->check_shared(in, folder.path(), step_options, where));
    folder_checked = true;
    return {};
  }

  std::vector<edge> kept_edges() const {
    std::vector<edge> edges_to_read;
    for (const auto& item : kept)
      edges_to_read.push_back(item.value);
    return edges_to_read;
  }

  std::vector<checkpoint_item> kept_items(std::vector<tensor> values) const {
    std::vector<checkpoint_item> items;
    for (size_t i = 0; i < kept.size(); ++i)
      items.push_back({kept[i].name, std::move(values[i])});
    return items;
  }

  std::vector<checkpoint_item> read(session& in, location where) const {
    std::vector<edge> edges_to_read = kept_edges();
    for (const auto& saved : variables)
      edges_to_read.push_back(saved.variable);
    auto values = in.run({}, edges_to_read, {}, step_options, where);
    auto items = kept_items(values);
    for (size_t i = 0; i < variables.size(); ++i)
      items.push_back({variables[i].name, std::move(values[kept.size() + i]), variables[i].slice});
    return items;
  }

  checkpoint_manifest describe_checkpoint(int64_t step, std::optional<double> metric) {
    checkpoint_manifest manifest;
    manifest.step = step;
    manifest.description["by"] = concat("troupe ", library_version);
    manifest.description[std::string{time_key}] =
        concat(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
    if (metric)
      manifest.description[std::string{metric_key}] = to_text(*metric);
    if (read_notes)
      for (auto& [key, text] : read_notes())
        manifest.positions[concat(note_key, key)] = text;
    manifest.graph_digest = graph_digest();
    if (!not_saved.empty())
      manifest.description[std::string{not_saved_key}] = not_saved;
    if (!lost.empty() && !std::exchange(has_warned, true) && options.on_warning)
      options.on_warning(concat(folder.path(), ": checkpoints do not have ", lost));
    return manifest;
  }

  static void add_streams(session& in, checkpoint_manifest& manifest, location where) {
    for (const auto& task : in.random_state(where)) {
      manifest.incarnations[task.task] = task.incarnation;
      for (const auto& [node_name, position] : task.positions)
        keep_further(manifest.positions[concat(stream_key, node_name)], position);
    }
  }

  const std::string& graph_digest() {
    if (digest.empty() || digest_version != model->version()) {
      digest = digest_of(*model);
      auto unsaved = find_unsaved_state(*model, kept);
      lost = join_names(unsaved.lost);
      unsaved.lost.merge(unsaved.of_step);
      not_saved = join_names(unsaved.lost);
      digest_version = model->version();
    }
    return digest;
  }

  // `save` writes a checkpoint and returns its name.
  template <class Save>
  result<std::string> write(int64_t step, Save save) {
    if (!std::exchange(cleaned, true))
      TROUPE_TRY(folder.clean());
    auto saved = save();
    if (!saved) {
      // If another process has taken the folder over, it removes drafts, which looks like a disk
      // error.
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

  result<std::string> write_items(checkpoint_manifest manifest,
                                  const std::vector<checkpoint_item>& items) {
    auto format = options.format == saver_format::tensorflow ? checkpoint_format::tensorflow
                                                             : checkpoint_format::safetensors;
    auto step = manifest.step;
    return write(step, [&] { return folder.save(std::move(manifest), items, format); });
  }

  result<std::string> write_by_tasks(session& in, checkpoint_manifest manifest, location where) {
    auto step = manifest.step;
    return write(step, [&] {
      return folder.save(
          std::move(manifest), [&](const std::string& draft, checkpoint_manifest& draft_manifest) {
            return tasks->write(
                in, draft, kept_edges(),
                [&](std::vector<tensor> values) { return kept_items(std::move(values)); },
                draft_manifest, step_options, where);
          });
    });
  }

  status wait() {
    auto written = writing.valid() ? writing.get() : status{};
    return std::exchange(dropped, false) ? status{} : written;
  }

  // Returns true if the checkpoint has a matching value for a variable; else reports the mismatch.
  static bool fits(const checkpoint_reader& from, const saved_variable& saved,
                   restore_report& report) {
    auto stored = from.find(saved.name);
    const auto& variable_node = *saved.variable.node;
    if (!stored) {
      report.missing.push_back(variable_node.name());
      return false;
    }
    auto type = variable_node.attr<dtype>("dtype");
    auto declared = variable_node.attr<partial_shape>("shape");
    auto full_shape = saved.slice ? partial_shape{saved.slice->full_shape} : declared;
    if (stored->first == type && full_shape.compatible(stored->second))
      return true;
    report.mismatched.push_back(concat(saved.name, ": ", type, full_shape, " in the graph, ",
                                       stored->first, stored->second, " in the checkpoint"));
    return false;
  }

  static result<tensor> value_for(const checkpoint_reader& from, const saved_variable& saved) {
    if (!saved.slice)
      return from.read(saved.name);
    return from.read_part(saved.name, saved.slice->offset,
                          saved.variable.node->attr<partial_shape>("shape").known());
  }

  // Returns true if each task can read the variables that it holds.
  bool written_by_tasks(const checkpoint_reader& from) const {
    return tasks && std::ranges::all_of(from.manifest().tensors, [](const auto& entry) {
             return entry.file == concat(bundle_name, ".index");
           });
  }

  static status does_not_fit(const restore_report& report, std::string_view partial_option,
                             error_kind mismatch_kind = error_kind::failed_precondition) {
    std::string text;
    for (const auto& name : report.missing)
      text += concat("\n  ", name, ": is not in the checkpoint");
    for (const auto& mismatch : report.mismatched)
      text += concat("\n  ", mismatch);
    for (const auto& name : report.unexpected)
      text += concat("\n  ", name, ": is in the checkpoint, and not in the graph");
    return failure(mismatch_kind, report.path, ": does not fit the graph; ", partial_option,
                   " takes what fits:", text);
  }

  restore_report restore_from(session& in, const std::string& path, const import_options& settings,
                              location where) {
    auto fail = [&](status cause) {
      throw error{std::move(cause).with_context(concat("restore_from (", to_string(where), ')'))};
    };
    auto from = tensor_files::open(real_files(), path);
    if (!from)
      fail(from.status());
    restore_report report{.path = from->path(), .same_graph = false};
    std::vector<feed> feeds;
    std::vector<target> targets;
    std::set<std::string> used;
    for (const auto& saved : variables) {
      auto stored_name = settings.name_in_file ? settings.name_in_file(saved.name) : saved.name;
      if (stored_name.empty())
        continue;
      used.insert(stored_name);
      if (!from->find(stored_name)) {
        report.missing.push_back(stored_name == saved.name
                                     ? stored_name
                                     : concat(saved.name, " ('", stored_name, "' there)"));
        continue;
      }
      auto whole_value = from->read(stored_name);
      if (!whole_value)
        fail(whole_value.status());
      std::string unequal;
      auto value = fitting_part(saved, *std::move(whole_value), unequal);
      if (!value)
        fail(value.status());
      if (!unequal.empty()) {
        report.mismatched.push_back(std::move(unequal));
        continue;
      }
      report.restored.push_back(saved.variable.node->name());
      feeds.push_back({saved.value, *std::move(value)});
      targets.push_back(saved.assign);
    }
    for (const auto& stored : from->tensors())
      if (!used.contains(stored.name))
        report.unexpected.push_back(stored.name);
    if (!settings.partial && !(report.missing.empty() && report.mismatched.empty()))
      fail(does_not_fit(report, "import_options.partial"));
    if (!targets.empty())
      in.run(feeds, {}, targets, step_options, where);
    return report;
  }

  // Returns the names of local variables in checkpoints of versions that saved them.
  std::set<std::string> local_names() const {
    std::set<std::string> names;
    for (const auto& variable : model->nodes())
      if (detail::is_local_variable(*variable))
        names.insert(options.name_in_checkpoint ? options.name_in_checkpoint(variable->name())
                                                : variable->name());
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

  struct restore_options {
    bool best = false;
    bool partial = false;
    std::string_view partial_option = "restore_partial()";
    error_kind mismatch_kind = error_kind::failed_precondition;
  };

  std::optional<restore_report> restore(session& in, const restore_options& choice,
                                        location where) {
    auto fail = [&](status cause) {
      throw error{std::move(cause).with_context(concat("restore (", to_string(where), ')'))};
    };
    if (auto written = wait(); !written)
      fail(written);
    if (auto outcome = check_shared(in, where); !outcome)
      fail(outcome);
    auto name = name_to_restore(choice.best);
    if (!name && name.status().kind() != error_kind::not_found)
      fail(name.status());
    if (!name || !*name)
      return {};
    auto from = checkpoint_reader::open(real_files(), folder.path_of(**name));
    if (!from)
      fail(from.status());
    const auto& manifest = from->manifest();
    auto report = begin_report(*from);
    report.same_graph = manifest.graph_digest.empty() || manifest.graph_digest == graph_digest();
    std::vector<const saved_variable*> matching;
    for (const auto& saved : variables)
      if (fits(*from, saved, report))
        matching.push_back(&saved);
    restored_values values;
    auto optional_missing = std::ranges::count_if(kept, [&](const saved_value& item) {
      return item.may_be_missing && !from->find(item.name);
    });
    if (auto outcome = read_saved_values(*from, kept, values, report); !outcome)
      fail(std::move(outcome));
    auto sharded_by_task = matching.size() == variables.size() && written_by_tasks(*from);
    for (const auto* saved : matching) {
      report.restored.push_back(saved->variable.node->name());
      if (sharded_by_task)
        continue;
      auto value = value_for(*from, *saved);
      if (!value)
        fail(value.status());
      values.feeds.push_back({saved->value, *std::move(value)});
      values.targets.push_back(saved->assign);
    }
    report.unexpected = find_unexpected(manifest, variables, kept, local_names());
    if (!choice.partial &&
        (std::ssize(report.missing) > optional_missing || !report.mismatched.empty()))
      fail(does_not_fit(report, choice.partial_option, choice.mismatch_kind));
    if (sharded_by_task)
      tasks->restore(in, from->path(), step_options, where);
    if (saves_model)
      std::ranges::copy(detail::local_initializers(*model), std::back_inserter(values.targets));
    if (!values.targets.empty())
      in.run(values.feeds, {}, values.targets, step_options, where);
    in.restore_random_state(positions_of(manifest, stream_key), where);
    return report;
  }
};

saver::saver(graph_builder& in, std::string folder, const saver_options& options, location where)
    : saver(in, detail::model_variables(in), std::move(folder), options, where) {
  state_->saves_model = true;
}

saver::saver(graph_builder& in, const std::vector<edge>& variables, std::string folder,
             const saver_options& options, location where)
    : state_(std::make_unique<state>(
          in,
          options.sharded_by_task ? std::filesystem::absolute(folder).lexically_normal().string()
                                  : std::move(folder),
          options, where)) {
  if (variables.empty())
    reject("saver", where, "there are no variables to save");
  for (const auto& variable : variables) {
    if (variable.is_empty() || variable.node->op().state_kind != resource::variable)
      reject("saver", where, variable ? variable.node->description() : "an empty edge",
             " is no variable");
    state_->add(in, variable, where);
  }
  if (options.sharded_by_task)
    state_->add_tasks(in, where);
  if (options.save_all_state)
    state_->kept = add_saved_state(in, where);
}

void saver::add_notes(std::function<std::map<std::string, std::string>()> read_notes) {
  need_state("add_notes", location::current(), state_ != nullptr, "saver");
  state_->read_notes = std::move(read_notes);
}

void saver::set_step_timeout(std::chrono::milliseconds timeout, location where) {
  need_state("set_step_timeout", where, state_ != nullptr, "saver");
  if (auto valid = check_duration("the limit", timeout); !valid)
    throw error{std::move(valid).with_context(concat("set_step_timeout (", to_string(where), ')'))};
  state_->step_options.timeout = timeout;
}

void saver::add_saved_value(std::string name, edge value, edge placeholder, node* restored,
                            location where) {
  need_state("add_saved_value", where, state_ != nullptr, "saver");
  if (value.is_empty() || placeholder.is_empty() || !restored)
    reject("add_saved_value", where, "'", name, "' needs a value, a placeholder and a node to run");
  if (std::ranges::find(state_->variables, name, &saved_variable::name) !=
          state_->variables.end() ||
      std::ranges::find(state_->kept, name, &saved_value::name) != state_->kept.end())
    reject("add_saved_value", where, "'", name, "' is saved already");
  state_->kept.push_back({std::move(name), value, placeholder, restored});
  state_->digest.clear(); // the list of unsaved state must be computed again
}

saver::saver(saver&&) noexcept = default;
saver& saver::operator=(saver&&) noexcept = default;
saver::~saver() = default; // waits in the destructor of std::async's future

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
    auto manifest = state_->describe_checkpoint(step, metric);
    state::add_streams(in, manifest, where);
    if (!state_->tasks)
      return state_->write_items(std::move(manifest), state_->read(in, where));
    TROUPE_TRY(state_->check_shared(in, where));
    return state_->write_by_tasks(in, std::move(manifest), where);
  }();
  if (!outcome)
    throw error{status{outcome.status()}.with_context(concat("save (", to_string(where), ')'))};
  return *std::move(outcome);
}

void saver::save_async_with(session& in, int64_t step, std::optional<double> metric,
                            location where) {
  wait(where);
  auto* saver_state = state_.get();
  if (auto held = saver_state->begin_to_write();
      saver_state->refused || (saver_state->tasks && !held)) {
    throw error{std::move(held).with_context(concat("save_async (", to_string(where), ')'))};
  } else if (!held) { // reported like a failure of the write itself
    std::promise<status> failed;
    failed.set_value(std::move(held));
    saver_state->writing = failed.get_future();
    return;
  }
  auto manifest = saver_state->describe_checkpoint(step, metric);
  if (saver_state->options.exact_random_state)
    state::add_streams(in, manifest, where);
  if (saver_state->tasks)
    if (auto outcome = saver_state->check_shared(in, where); !outcome)
      throw error{std::move(outcome).with_context(concat("save_async (", to_string(where), ')'))};
  auto items = saver_state->tasks ? std::vector<checkpoint_item>{} : saver_state->read(in, where);
  if (saver_state->watch.begun)
    saver_state->watch.begun(step);
  saver_state->writing =
      std::async(std::launch::async, [=, &in, manifest = std::move(manifest)]() mutable -> status {
        try {
          if (!saver_state->options.exact_random_state)
            state::add_streams(in, manifest, where);
        } catch (const error& cause) {
          return failure(cause.kind(), cause.what());
        }
        return saver_state->tasks
                   ? saver_state->write_by_tasks(in, std::move(manifest), where).status()
                   : saver_state->write_items(std::move(manifest), items).status();
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
    throw error{std::move(written).with_context(concat("save (", to_string(where), ')'))};
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
    throw error{
        status{manifest.status()}.with_context(concat("latest_step (", to_string(where), ')'))};
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
  auto result_list = [&]() -> result<std::vector<saved_checkpoint>> {
    auto complete = folder.list();
    if (!complete && complete.status().kind() == error_kind::not_found)
      return std::vector<saved_checkpoint>{};
    TROUPE_TRY(complete.status());
    auto latest = folder.latest();
    std::vector<saved_checkpoint> checkpoints;
    for (const auto& checkpoint : *complete) {
      saved_checkpoint entry{.path = folder.path_of(checkpoint.name),
                             .step = checkpoint.step,
                             .is_latest = latest && *latest == checkpoint.name};
      TROUPE_ASSIGN(entry.metric, folder.number_of(checkpoint, metric_key));
      TROUPE_ASSIGN(auto seconds, folder.number_of(checkpoint, time_key));
      entry.time += std::chrono::seconds{static_cast<int64_t>(seconds.value_or(0))};
      checkpoints.push_back(std::move(entry));
    }
    return checkpoints;
  }();
  if (!result_list)
    throw error{status{result_list.status()}.with_context(concat("list (", to_string(where), ')'))};
  return *std::move(result_list);
}

restore_report saver::restore_from(session& in, const std::string& path,
                                   const import_options& options, location where) {
  need_state("restore_from", where, state_ != nullptr, "saver");
  return state_->restore_from(in, path, options, where);
}

std::optional<restore_report> saver::restore_partial(session& in, location where) {
  need_state("restore_partial", where, state_ != nullptr, "saver");
  return state_->restore(in, {.partial = true}, where);
}

// -- saver_access ---------------------------------------------------------------------------------

result<std::shared_ptr<folder_lock>>
saver_access::lock_folder(const std::string& folder, const saver_options& options,
                          std::string_view owner, std::string_view take_over, location where) {
  return folder_lock::acquire(folder, {.content = "checkpoints",
                                       .owner = concat(owner, " (", to_string(where), ')'),
                                       .take_over = options.take_over,
                                       .how_to_take_over = concat("set ", take_over)});
}

void saver_access::use_lock(saver& checkpoints, std::shared_ptr<folder_lock> lock) {
  auto& saver_state = *checkpoints.state_;
  // With another lock, another process may have written meanwhile.
  saver_state.cleaned = saver_state.cleaned && saver_state.lock == lock;
  saver_state.lock = std::move(lock);
}

bool saver_access::is_refused(const saver& checkpoints) { return checkpoints.state_->refused; }

void saver_access::watch(saver& checkpoints, saver_watch callbacks) {
  checkpoints.state_->watch = std::move(callbacks);
}

std::optional<restore_report> saver_access::restore(saver& checkpoints, session& in, bool partial,
                                                    std::string_view partial_option,
                                                    error_kind mismatch_kind, location where) {
  return checkpoints.state_->restore(
      in, {.partial = partial, .partial_option = partial_option, .mismatch_kind = mismatch_kind},
      where);
}

} // namespace troupe
