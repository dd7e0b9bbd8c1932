use super::actions::action_named;
use super::finished::finished;
use super::words;
use super::{
    PresetAdvice, PresetAttempts, PresetCaution, PresetCheck, PresetInFlight, PresetLiveness, PresetOption,
    PresetOwner, PresetQueue, PresetRule, PresetShape, PresetSkip, PresetStates, PresetTable, PresetTime, PresetWakeUp,
    PresetsShow,
};
use crate::spec::{self, OptionKind, Preset, Profile, Shape, SpecError, StateValue, Threshold, WakeUp};

/// All that is known of one queue.
///
/// # Errors
/// Never for a preset that was read: see [`Preset::shapes`].
pub fn preset_page(preset: &Preset) -> Result<PresetsShow, SpecError> {
    Ok(PresetsShow {
        schema: "jobdoctor.presets-show/v1",
        name: preset.name.clone(),
        title: preset.title.clone(),
        engines: preset.engines.iter().map(ToString::to_string).collect(),
        checked: preset.checked.clone(),
        proof: preset.proof.name().to_owned(),
        proof_detail: words::proof(preset),
        built_in: preset.built_in,
        detected: preset.is_detectable(),
        options: preset.options.iter().map(option).collect(),
        exactly_one: preset.exactly_one().to_vec(),
        shapes: preset.shapes()?.iter().map(shape).collect(),
    })
}

fn option(option: &spec::PresetOption) -> PresetOption {
    let (kind, values) = match &option.kind {
        OptionKind::Integer => ("integer", Vec::new()),
        OptionKind::Duration => ("duration", Vec::new()),
        OptionKind::Text => ("text", Vec::new()),
        OptionKind::Word(words) => ("word", words.clone()),
    };
    PresetOption {
        name: option.name.clone(),
        kind: kind.to_owned(),
        default: option.default.as_ref().map(ToString::to_string),
        values,
        help: option.help.clone(),
    }
}

fn shape(shape: &Shape) -> PresetShape {
    let variant = shape.variant.as_ref();
    PresetShape {
        engine: shape.engine.to_string(),
        variant: variant.map(|variant| variant.name.clone()),
        recognised_by: variant.map(|v| v.conditions.iter().map(words::condition).collect()).unwrap_or_default(),
        refused: variant.and_then(|variant| variant.refused.clone()),
        queue: shape.profile.as_ref().map(queue),
    }
}

fn queue(profile: &Profile) -> PresetQueue {
    let (fencing, fencing_detail) = words::fencing(profile.fencing);
    PresetQueue {
        default_schema: profile.schema.clone(),
        tables: profile
            .tables
            .iter()
            .map(|table| PresetTable {
                name: table.logical.clone(),
                table: table.physical.clone(),
                detail: words::table(table),
            })
            .collect(),
        in_flight: in_flight(profile),
        states: states(profile),
        times: profile
            .times
            .iter()
            .map(|time| PresetTime { column: time.column.clone(), encodings: time.encodings.clone() })
            .collect(),
        owner: owner(profile),
        liveness: profile
            .liveness
            .iter()
            .map(|sign| PresetLiveness {
                by: sign.by.clone(),
                column: sign.column.clone(),
                threshold_seconds: match &sign.silent_after {
                    Some(Threshold::Span(span)) => Some(span.as_secs_f64()),
                    _ => None,
                },
                detail: words::life_sign(sign, &profile.owner),
            })
            .collect(),
        rules: rules(profile),
        attempts: PresetAttempts {
            column: profile.attempts.column.clone(),
            max: profile.attempts.max.clone(),
            stalls: profile.attempts.stalls.clone(),
            counted: words::counted(&profile.attempts),
            exhausted: words::exhausted(&profile.attempts),
        },
        finished: finished(profile),
        actions: profile.actions.iter().map(action_named).collect(),
        waiting: profile.waiting.iter().map(action_named).collect(),
        skips: profile
            .skips
            .iter()
            .map(|skip| PresetSkip {
                name: skip.name.clone(),
                actions: skip.actions.iter().map(ToString::to_string).collect(),
                condition: skip.condition.clone(),
                reason: skip.reason.clone(),
            })
            .collect(),
        checks: profile
            .checks
            .iter()
            .map(|check| PresetCheck {
                name: check.name.clone(),
                finds: check.finds.clone(),
                remedy: check.remedy.clone(),
                sql: check.sql.clone(),
            })
            .collect(),
        wake_ups: profile.wake_ups.iter().map(wake_up).collect(),
        guard: profile.claim.guard.clone(),
        cautions: profile
            .cautions
            .iter()
            .map(|(name, text)| PresetCaution { name: name.clone(), text: text.clone() })
            .collect(),
        fencing: fencing.to_owned(),
        fencing_detail: fencing_detail.to_owned(),
        advice: profile
            .advice
            .as_ref()
            .map(|advice| PresetAdvice { text: advice.text.clone(), sql: advice.sql.clone() }),
    }
}

fn in_flight(profile: &Profile) -> PresetInFlight {
    let claim = &profile.claim;
    PresetInFlight {
        table: claim.table.clone(),
        key: claim.key.clone(),
        state: claim.state.clone(),
        condition: claim.filter.clone(),
        from: claim.from.clone(),
        queue: claim.queue.clone(),
        kind: claim.kind.clone(),
        claimed_at: claim.claimed_at.clone(),
        progress: claim.progress.clone(),
        detail: words::in_flight(profile, &stored(&profile.states.in_flight)),
    }
}

fn states(profile: &Profile) -> PresetStates {
    let states = &profile.states;
    PresetStates {
        waiting: stored(&states.waiting),
        in_flight: stored(&states.in_flight),
        done: stored(&states.done),
        failed: stored(&states.failed),
        cancelled: stored(&states.cancelled),
    }
}

/// A state as it is stored, with its name where that is another one.
fn stored(states: &[StateValue]) -> Vec<String> {
    let one = |state: &StateValue| match state.stored.to_string() {
        stored if stored == state.name => stored,
        stored => format!("{stored} ({})", state.name),
    };
    states.iter().map(one).collect()
}

fn owner(profile: &Profile) -> Option<PresetOwner> {
    let owner = &profile.owner;
    Some(PresetOwner {
        detail: words::owner(owner)?,
        id: owner.id.clone()?,
        name: owner.name.clone(),
        host: owner.host.clone(),
        table: owner.table.clone(),
    })
}

fn rules(profile: &Profile) -> Vec<PresetRule> {
    let rules = &profile.rules;
    let rule = |rule: &str, detail: String| PresetRule { rule: rule.to_owned(), detail };
    let quoted = words::quoted;
    let started = profile.owner.started.as_ref().map(|started| {
        let detail = format!("dead: its owner started ({}) after the claim was made", quoted(started));
        rule("owner_restarted", detail)
    });
    let deadline = rules.deadline.as_ref().map(|deadline| {
        let detail = format!("trouble, not death: {} has passed", quoted(deadline));
        rule("deadline_passed", detail)
    });
    let max_runtime = rules.max_runtime.as_ref().map(|max| {
        let detail = format!("trouble, not death: it runs for longer than {}", words::or_option(max));
        rule("max_runtime", detail)
    });
    let cancel = rules.cancel_requested.as_ref().map(|requested| {
        let detail = format!("a dead one is cancelled instead of put back: {}", quoted(requested));
        rule("cancel_requested", detail)
    });
    [started, deadline, max_runtime, cancel].into_iter().flatten().collect()
}

fn wake_up(wake_up: &WakeUp) -> PresetWakeUp {
    match wake_up {
        WakeUp::Channel { channel, payload } => {
            PresetWakeUp { channel: Some(channel.clone()), payload: Some(payload.clone()), sql: None }
        }
        WakeUp::Sql(sql) => PresetWakeUp { channel: None, payload: None, sql: Some(sql.clone()) },
    }
}
