//! Asking the client: each handler is written once and serves both eras. `?` returns from it until the answer has
//! arrived.

use mcp_proto::input::Choice;
use mcp_proto::{
    Context, CreateMessage, ElicitForm, Field, Interrupt, Prompt, Questions, ServerBuilder, Tool,
    ToolError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::App;

/// What `test_sampling` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Sampling {
    /// What the client's model is asked.
    prompt: String,
}

/// What `test_elicitation` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Elicitation {
    /// What the user is asked.
    message: String,
}

pub(super) fn tools(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    let builder = builder
        .tool(Tool::new("test_sampling", "Asks the client's model.").asking(), sampling)
        .tool(Tool::new("test_elicitation", "Asks the user for a name.").asking(), elicitation)
        .tool(
            Tool::new("test_elicitation_sep1034_defaults", "Asks with defaults.").asking(),
            defaults,
        )
        .tool(Tool::new("test_elicitation_sep1330_enums", "Asks for choices.").asking(), choices)
        .tool(
            Tool::new("test_missing_capability", "Needs the client's model.").asking(),
            async |context: Context| say(model_says(&context, "Hello")),
        )
        .tool(
            Tool::new("test_streaming_elicitation", "Asks the user.").asking(),
            async |context: Context| greet(&context),
        );
    input_required(builder).prompt(
        Prompt::new("test_input_required_result_prompt", "Asks before it is filled in."),
        async |context: Context| {
            let form = ElicitForm::new("What context should the prompt use?")
                .field("context", Field::text().required());
            let answer = context.elicit("user_context", &form)?;
            let text = answer.text("context").unwrap_or("no context");
            Ok(format!("Use this context: {text}"))
        },
    )
}

/// The tools that the suite calls in the modern era; they work in the legacy era, too.
fn input_required(builder: ServerBuilder<App>) -> ServerBuilder<App> {
    let tool = |name: &str| {
        Tool::new(format!("test_input_required_result_{name}"), "Asks first.").asking()
    };
    builder
        .tool(tool("elicitation"), async |context: Context| greet(&context))
        .tool(tool("sampling"), async |context: Context| {
            say(model_says(&context, "What is the capital of France?"))
        })
        .tool(tool("list_roots"), async |context: Context| {
            let roots = context.list_roots("client_roots")?;
            let roots: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
            Ok(format!("Roots: {}", roots.join(", ")))
        })
        .tool(tool("request_state"), confirmed)
        .tool(tool("tampered_state"), confirmed)
        .tool(tool("multiple_inputs"), several)
        .tool(tool("multi_round"), rounds)
        .tool(tool("capabilities"), whatever_it_can)
}

fn greet(context: &Context) -> Result<String, ToolError> {
    let form = ElicitForm::new("What is your name?").field("name", Field::text().required());
    let answer = context.elicit("user_name", &form)?;
    let name = answer.text("name").unwrap_or("stranger");
    Ok(format!("Hello, {name}!"))
}

fn model_says(context: &Context, text: &str) -> Result<String, Interrupt> {
    let said = context.sample("capital_question", &CreateMessage::text(text, 100))?;
    Ok(format!("LLM response: {}", said.text()))
}

fn say(text: Result<String, Interrupt>) -> Result<String, ToolError> {
    Ok(text?)
}

async fn sampling(asked: Sampling, context: Context) -> Result<String, ToolError> {
    say(model_says(&context, &asked.prompt))
}

async fn elicitation(asked: Elicitation, context: Context) -> Result<String, ToolError> {
    let form = ElicitForm::new(asked.message)
        .field("username", Field::text().with_description("Your name").required())
        .field("email", Field::email().with_description("Your address").required());
    let answer = context.elicit("user", &form)?;
    let answer = json!(answer);
    Ok(format!("User response: {answer}"))
}

/// Every kind of field, with its default.
async fn defaults(context: Context) -> Result<String, ToolError> {
    let form = ElicitForm::new("Please look these over")
        .field("name", Field::text().with_default("John Doe"))
        .field("age", Field::integer().with_default(30))
        .field("score", Field::number().with_default(95.5))
        .field("status", Field::one_of(["active", "inactive", "pending"]).with_default("active"))
        .field("verified", Field::boolean().with_default(true));
    completed(&context, &form)
}

/// One of several, or several of them; with titles or without.
async fn choices(context: Context) -> Result<String, ToolError> {
    let titled = |value: &str, titles: [&str; 3]| {
        let choices = titles.into_iter().enumerate();
        choices
            .map(|(index, title)| Choice::new(format!("{value}{}", index + 1), title))
            .collect::<Vec<_>>()
    };
    let options = ["option1", "option2", "option3"];
    let form = ElicitForm::new("Please choose")
        .field("untitledSingle", Field::one_of(options))
        .field(
            "titledSingle",
            Field::one_of_titled(titled(
                "value",
                ["First Option", "Second Option", "Third Option"],
            )),
        )
        .field(
            "legacyEnum",
            Field::one_of_named(titled("opt", ["Option One", "Option Two", "Option Three"])),
        )
        .field("untitledMulti", Field::any_of(options))
        .field(
            "titledMulti",
            Field::any_of_titled(titled(
                "value",
                ["First Choice", "Second Choice", "Third Choice"],
            )),
        );
    completed(&context, &form)
}

fn completed(context: &Context, form: &ElicitForm) -> Result<String, ToolError> {
    let answer = context.elicit("form", form)?;
    let (action, content) = (json!(answer.action), json!(answer.content));
    let text = format!("Elicitation completed: action={action}, content={content}");
    Ok(text)
}

/// The client carries the earlier answers in sealed form: they cannot be altered or used for another request.
async fn confirmed(context: Context) -> Result<&'static str, ToolError> {
    let form = ElicitForm::new("Please confirm").field("ok", Field::boolean().required());
    context.elicit("confirm", &form)?;
    Ok("state-ok")
}

/// Several questions at once.
async fn several(context: Context) -> Result<String, ToolError> {
    let form = ElicitForm::new("What is your name?").field("name", Field::text().required());
    let questions = Questions::new()
        .elicit("user_name", form)
        .sample("greeting", CreateMessage::text("Generate a greeting", 50))
        .roots("client_roots");
    let answers = context.ask(&questions)?;
    let name = answers.elicited("user_name")?;
    let greeting = answers.sampled("greeting")?.text();
    let roots = answers.roots("client_roots")?.len();
    let name = name.text("name").unwrap_or("stranger");
    Ok(format!("{greeting} {name}, you have {roots} roots."))
}

/// One question after the other: the answer to the first is still available when the second is answered.
async fn rounds(context: Context) -> Result<String, ToolError> {
    let name =
        ElicitForm::new("Step 1: What is your name?").field("name", Field::text().required());
    let name = context.elicit("step1", &name)?;
    let color = ElicitForm::new("Step 2: What is your favorite color?")
        .field("color", Field::text().required());
    let color = context.elicit("step2", &color)?;
    let (name, color) = (name.text("name"), color.text("color"));
    Ok(format!("{} likes {}.", name.unwrap_or("Somebody"), color.unwrap_or("no color")))
}

/// A client is asked only the questions that it supports.
async fn whatever_it_can(context: Context) -> Result<&'static str, ToolError> {
    let mut questions = Questions::new();
    if context.client_capabilities.can_elicit_forms() {
        let form = ElicitForm::new("What is your name?").field("name", Field::text());
        questions = questions.elicit("user_name", form);
    }
    if context.client_capabilities.can_sample() {
        questions = questions.sample("greeting", CreateMessage::text("Generate a greeting", 50));
    }
    context.ask(&questions)?;
    Ok("Asked what could be asked.")
}
