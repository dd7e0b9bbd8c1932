//! Where an action of a preset leads is proven by scenes, and not asked of each row: so each action has a scene that it moves.

use super::database::nothing_is_wrong;
use super::{newest, preconditions};

/// pgmq's fail takes whatever has no read left, and all else is read again by itself: only a restart sweep requeues.
const BY_RESTART: [(&str, &str); 1] = [("pgmq", "requeue")];

#[test]
fn each_action_of_a_preset_has_a_scene() {
    nothing_is_wrong(&newest(), |databases, stage| {
        let ends = |how: &str| stage.scenes.iter().find(|scene| scene.expected.values().any(|end| end.ends_with(how)));
        let Some(first) = ends(", moved") else { return Vec::new() };
        let spec = preconditions::spec(databases, stage, first);
        let offered = spec.actions.iter().filter(|(_, action)| action.refused.is_none() && !action.steps.is_empty());
        let unproven = offered.filter(|(action, _)| {
            let is_by_restart = BY_RESTART.contains(&(stage.queue.as_str(), action.name()));
            !is_by_restart && ends(&format!(", {action}, moved")).is_none()
        });
        unproven.map(|(action, _)| format!("{stage}: no scene is moved by {action}")).collect()
    });
}
