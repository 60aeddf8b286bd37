// Functions of a saver for training_run and replicas only.
#pragma once
#include "troupe/api/train/checkpoint/saver.hpp"
#include "troupe/serialization/storage/folder_lock.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Callbacks for the stages of a save.
struct saver_watch {
  /// The values have been read. Called on the saving thread, before writing begins.
  std::function<void(int64_t step)> begun = {};
  /// All files are written, and the checkpoint is not visible yet. Called on the writing thread.
  /// False drops the checkpoint, which is not an error.
  std::function<bool()> may_publish = {};
  /// The checkpoint will survive a crash. Called on the writing thread.
  std::function<void(int64_t step, const std::string& path)> saved = {};
};

/// Has access to the private members of savers.
class saver_access {
public:
  using location = std::source_location;

  /// Locks an existing folder, for the right to write checkpoints. `take_over` is the name of that
  /// option in error texts.
  static result<std::shared_ptr<folder_lock>>
  lock_folder(const std::string& folder, const saver_options& options, std::string_view owner,
              std::string_view take_over, location where);
  /// Sets the lock under which the saver writes. Null: the saver locks the folder itself.
  static void use_lock(saver& checkpoints, std::shared_ptr<folder_lock> lock);
  /// Returns true if the last attempt to save failed because another process or saver writes to the
  /// folder. All later attempts will fail as well.
  static bool is_refused(const saver& checkpoints);
  /// Sets the callbacks for later saves; {} removes them. No save may be in progress.
  static void watch(saver& checkpoints, saver_watch callbacks);
  /// Calls saver::restore() or restore_partial(). For a checkpoint that does not match, the error
  /// has the kind `mismatch_kind`, and suggests `partial_option` instead.
  static std::optional<restore_report> restore(saver& checkpoints, session& in, bool partial,
                                               std::string_view partial_option,
                                               error_kind mismatch_kind, location where);
};

} // namespace troupe
