"""Each package names in `__init__` what others may use; others import nothing past it.

A face is read from the stub `__init__.pyi`, or from `__init__.py` where all of it is loaded at once. It names classes,
functions and constants, and modules that may be imported as a whole.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_architecture import FILES, is_in

from support.base import ROOT

FACES = {
    "core.base.http": """
        Cancelled Deadline MAX_BYTES Request Response errors fetch is_public normalize_url trust_fake_addresses
    """,
    "core.base.settings": """
        Address Addresses ApiKey Changes Count DocumentSettings EDITABLE EMBEDDED EMBEDDED_LABEL EVERY_TOOL Flag Hours LAW_SOURCES LimitsSettings
        LlmSettings LoadedSettings LowerCase MAX_SERVERS McpServer McpSettings MetricsSettings ModelChoice NOT_SET Names OnOrOff OpenaiSettings Origin
        PanelControl RetentionSettings SETUP_QUERY SETUP_VALIDITY SavedSettingsFile SavedSettingsStore
        SavedValues SearchSettings Seconds Section SettingEntry Settings SettingsNotSaved SettingsTooNew
        SetupLinks UnreadableSettings ValueFormat Word are_proxies_configured child_environment choose_model
        cookie_secret decode_values encode_page_servers encode_values format_value is_claimed is_owner list_settings load_settings
        log_problems merge_changes parse_language resolve_changes variable_name with_owner
    """,
    "core.search": """
        BARE_TOOL CLOSE_FENCE CheckableEngine ClosableEngine EXTRAS EngineChain EngineHealth EngineOrder
        LANGUAGES LINE_MARK MAX_LENGTH NOTHING_FOUND NO_WEB_ENGINE NativeEngine OPEN_FENCE PromptText QuotedText RawResult Rest
        ResultCache SEARCH_FAILED SNIPPET_LENGTH SearchEngine SearchLimits SearchService SessionCache
        TIME_RANGES TITLE_LENGTH build_chain clean_results describe_attempt describe_filters effective_query engine_class
        engine_label engine_sections errors fence_safe find_article lacks_search manual_articles
        not_supported_error parse_time_range registry search_queries search_tool sources_block strip_service_marks
        takes_bare_tool types unsupported_filters visited_urls web_failure_note
    """,
    "core.reading": """
        DocumentComment FILE_KINDS FileError FilePart FileReading KINDS_IN_WORDS MAX_SCANNED_PAGES PASSAGE_CHARS Page PageKind Passage Place RankedPassages
        ReadOutcome Reader ReadingError ReadingSettings RecognizedPage SectionKind Span TextSection UPLOAD_KINDS count_instructions
        decode_body decode_sections encode_sections is_attachment is_recognition_installed outline place_at places_between
        section_label select_passages with_recognized
    """,
    "core.llm": """
        CUT_OFF_REASONS ConnectionTestResult LOCAL_SERVICES ListedModel MAX_NAME_LENGTH Model ModelCallLimit
        ModelService Prompt SERVICES ThinkSplitter ask_once errors estimate_tokens find_service list_models
        log_cause pieces read_reported_usage reasoning_text retry_attempts run_connection_test
        service_for_address strip_thinking
    """,
    "core.mcp_client": """
        ForeignTool FoundItem McpError McpServers OfferedTools RefusedTool ServerState ToolListing ToolOutput
        arguments_from_text find_problem fit_arguments harmless_text wire_names
    """,
    "core.legal": """
        AmendingItem ArticleNumber ArticleReference ArticleVersion Author CaseFinding CaseResponse Catalogue
        CatalogueEntry ContractFinding ContractReview DOWNLOAD DiffSegment Draft FACETS FIELD FILL_BUTTON
        FILL_COMMAND FindingGroup GoverningArticle IMPORT_CASES IMPORT_FAILED ISSUER ImportBusy ImportJob ImportProgress ImportReport Importer KIND
        LAW_PACKAGE_NOTE LawVersion LegalArticle LegalIndex LegalLibrary LegalServices NO_LONGER_FOLLOWED NoCases
        NoLegalIndex PASTED_DRAFT_NAME PROBLEMS PUBLIC_CORPORA Period RELATED_LAWS RegulationResponse SAMPLE_DRAFT STATE
        Severity StatuteCheck StatuteFinding StatuteMark StoredArticle WORST_FIRST YEARS added_phrases amending_items
        article_history article_result article_source case_address case_facts case_keys case_parts case_sections
        diff_quotation diff_texts draft_with_comments entities excerpt find_citations force_note has_same_words
        later_amendment_note law_address law_import law_key law_query legal_export may_cite may_name_case
        missing_amendments parse_article_number parse_period past_periods reference_notes search_terms
        short_link source_name source_note split_paragraphs summary version_on
    """,
    "core.answer": """
        AGREEING_SOURCES ATTACHED Block BlockStream CitationVerdict CitedPlace DeskText HOW_MADE_NOTE INVENTED MARKS NO_SOURCES_NOTE OFFICIAL
        PROBLEM_VERDICTS SourcedEvents SourcedText TextSpan TextWindow UNCITED VERDICTS_WORST_FIRST against_law_lines agreeing_sources annotate
        check_results check_texts cited_numbers cited_places cited_sources compared_spans counted_results describe_source
        desk_html drop_invented empty_desk_html events export has_citation is_official join_numbers join_places list_agreements list_verdicts
        message nearest_span other_uncited parse_markdown passages_html places_by_source reading_status references_html render_annotated render_html
        results_html revision_diff_html site_name source_panel_html split_clean_blocks step_words stored_message tally uncited_label
        uncited_line unread_note verdict_html window_html with_statutes
    """,
    "core.comparison": """
        ADDED Agreement Chain ClauseMatch ClauseSequence Contradiction DROPPED EqualRun MAX_CLAUSES Objection ParsedClauses
        PassageClause StatementAlignment Word Words align numbers read_clauses stated_dates
    """,
    "core.checks": """
        CheckInputError CheckMemory MeaningComparison check_answer check_pair check_statement find_objection is_about leave_uncertain
        read_address_sources read_folder_sources
    """,
    "core.store": """
        AnswerCount AttemptCount ChosenCollection Conversation ConversationNotFound ConversationStore Counts Database MessagePage
        MetricsStore Outbox PreferenceStore ReadPageStore RecordFile SCHEMA SavedSettingsTable SearchCount ShareNotFound SharedFiles StoreError
        StoreRepaired StoreTooNew StoredPage TABLE_NAMES TOKEN_PREFIX Token TokenStore TokenUse UNDO_SECONDS Upkeep count_rows make_title new_conversation_id open_snapshot
        digest replace_rows stage_rows tables
    """,
    "core.documents": """
        Access Collection CollectionNotFound Document DocumentError DocumentLibrary DocumentNotFound DocumentState DocumentTransfer
        FolderImport ImportOutcome ImportedFile PassageHit WatchedFolders document_address document_id_of
    """,
    "core.run": """
        ABOUT_FILES Admission AnswerChecks AnswerOptions AnswerSaver AnswerService Approvals Choices ChosenCollections Configured Control ControlGroup DocumentFindings DocumentPages
        FittedSources GrowingPrompt LESS_GIVEN MAX_ADDRESSES MAX_ATTACHED_FILES MAX_PAGES_PER_CALL NOTHING_SPENT NOT_ASKED NO_CHOICES NO_SPANS PageRequest PastedSource PastedTextCheck Question Revision Rewriter Run RunSources
        SearchState SourceBudget StatuteWorder TextsByNumber TooManyQuestions WEB_SEARCH_FAILED WholeReading are_related
        attach_files budget_after_refusal check_pasted_text control_groups excerptable fair_share find_source_budget format_sources format_within_budget
        has_problems in_script_of instructions_notice is_small_talk max_articles may_be_in_library newest_messages parse_pasted_sources
        prompts read_choices read_sources refuse_long_sources restore_picked search_articles search_documents search_notices select_pages source_texts
        validate_pasted_text write_excerpts
    """,
    "core.chat": "ChatService",
    "core.agent": "AgentRunner",
    "core.metrics": """
        DashboardReport Grain MetricsRecorder OutcomeCount SpanStats TIME_SPANS TimeSpan read_report
    """,
    "core.serve": """
        ALL_SCOPES API_ROUTES Ask Caller DEFAULT_SCOPES Door Entry EventOrder OPERATOR Outsiders OwnOriginsOnly Scope
        VerifiedDraft answer_document close_services collection_json document_json entry_of find_collection hit_json host_and_port
        is_from_elsewhere is_known_host is_own_page iter_answer_events own_collection pair_json require_engine require_offered_model
        scope_labels search_json serve_stdio start_answer stream_answer_events token_facts verify_draft
    """,
    "core.ui.chat": """
        actions composer draw_answer draw_check draw_results draw_source_list first_screen live_answer
        search_ledger sidebar source_desk source_texts transcript
    """,
    "core.ui.legal": """
        article_actions article_list cases draft_check import_view law law_filters legal_page pasted_check_form statute_search
    """,
    "core.ui.dashboard": "dashboard_page",
    "core.ui.documents": "documents_page",
    "core.ui.settings": """
        connect model_settings own_key settings_page
    """,
}
"""What others may use of each package. A change here is a decision: more names are more to learn."""


def face(package: str, root: Path = ROOT) -> list[str]:
    """Return the names in the `__all__` of a package."""
    folder = root / package.replace(".", "/")
    path = next(path for path in (folder / "__init__.pyi", folder / "__init__.py") if path.exists())
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    raise AssertionError(f"{package} has no face")


def package_of(module: str) -> str | None:
    """Return the innermost package with a face that a module belongs to."""
    return max((package for package in FACES if is_in(module, package)), key=len, default=None)


def past_faces(files: Iterable[Path], root: Path = ROOT) -> list[str]:
    found = []
    for path in files:
        here = package_of(".".join(path.relative_to(root).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                package = package_of(name)
                if package and package != here and name != package:
                    first = name.removeprefix(f"{package}.").partition(".")[0]
                    if first not in FACES[package].split():
                        found.append(f"{path.relative_to(root)} imports {name}")
    return found


@pytest.mark.parametrize("package", FACES)
def test_a_face_is_as_it_was_agreed(package: str) -> None:
    assert sorted(face(package)) == sorted(FACES[package].split())


@pytest.mark.parametrize("package", FACES)
def test_every_name_of_a_face_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in FACES[package].split() if not hasattr(module, name)] == []


def test_nothing_is_imported_past_a_face() -> None:
    assert past_faces(FILES) == []


@pytest.mark.parametrize(
    "line",
    [
        "from core.legal.text.law_names import law_key",
        "from core.legal.text import law_names",
        "import core.legal.verify",
        "def later():\n    from core.legal.verify import Verifier",
        "from core.legal import nothing_of_the_kind",
    ],
)
def test_a_planted_import_past_a_face_is_found(tmp_path: Path, line: str) -> None:
    planted = tmp_path / "core" / "answer" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(f"from core.legal import law_key\nfrom core.legal.entities import LAWS\n{line}\n", "utf-8")
    assert len(past_faces([planted], tmp_path)) == 1


def test_every_package_has_a_face_but_the_foundation() -> None:
    """Modules of `core.base`, `core.commands` and `core.ui` are subjects of their own, and those of `core.legal` have one face together."""
    packages = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "core").rglob("__init__.py")}
    inside = {name for name in packages if package_of(name) not in {None, name}}
    assert packages - inside - set(FACES) == {
        "core",
        "core.base",
        "core.base.cache",
        "core.base.chinese",
        "core.commands",
        "core.ui",
        "core.ui.scripts",
    }
